"""The pure core: a job's life, the co-allocation saga, and what to do next.

Events go in, effects come out. Nothing here reads a clock, does I/O or draws a random number;
the daemon, the simulator and the tests are drivers of the same code. Moments (`now`, and all whose
name ends in `_time` or `_at`) are Unix seconds by the driver's clock, spans are seconds; clusters
and queues are numbers, in the order of the settings; processors are counted one by one.

Its parts share one `BrokerState` (jobs, ledger, timers, outbox) and call one way:

    core              what a driver calls: handle, schedule, take, restore
    view              what others may read
    requests          what users ask          scheduling    the policy's passes
    saga              attempts, from placement until nothing is left
    lost_clusters     whose jobs move on      queues        where jobs wait
    holdings          what jobs hold          refusals, resource_limits   who must wait
    ledger            what is idle
    job, states, tokens, events, effects, observation       the words that all of them use
"""
