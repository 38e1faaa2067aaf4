"""What brokers that share one store have for each other: who leads, and for how long that is sure;
what one that stands by answers itself, and how it passes the rest on."""
