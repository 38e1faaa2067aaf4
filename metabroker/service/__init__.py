"""What users ask and see: requests, answers, reasons, and who may do what."""
