// The models of benchmarks/kernel.py as one would write them in C++: GS and LS-DO over clusters of
// 32 processors with Worst Fit, FCFS and EASY on one pool, all in batch order.
//
// reference POLICY PROCESSORS CLUSTERS REPEATS <jobs >starts
// A job: submit, run time, estimate (double), local queue, number of components, and four sizes in
// decreasing order (int64). Writes each start (double); the seconds of each repeat go to stderr.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

struct Job {
    double submit, run, estimate;
    int64_t local, parts, sizes[4];
};

struct Event {
    double time;
    int64_t key;
    bool operator<(const Event &other) const {
        return std::tie(other.time, other.key) < std::tie(time, key);
    }
};

static std::vector<Job> jobs;
static std::vector<double> starts;

// The two loops differ in the policy alone.
template <class Policy> void play(Policy &policy) {
    std::priority_queue<Event> ends;
    size_t next = 0;
    const double never = 1e300;
    while (next < jobs.size() || !ends.empty()) {
        double end = ends.empty() ? never : ends.top().time;
        double arrival = next < jobs.size() ? jobs[next].submit : never;
        double now = std::min(end, arrival);
        while (!ends.empty() && ends.top().time <= now) {
            int64_t key = ends.top().key;
            ends.pop();
            policy.end(key);
        }
        while (next < jobs.size() && jobs[next].submit <= now) policy.arrive(next++);
        policy.pass(now, [&](int64_t key) {
            starts[key] = now;
            ends.push({now + jobs[key].run, key});
        });
    }
}

struct Queues {  // GS or LS-DO
    int clusters;
    bool global;
    std::vector<int64_t> idle;
    std::vector<std::deque<int64_t>> queues;
    std::vector<int> order, enabled, disabled;
    std::vector<int64_t> arrived;
    std::vector<std::array<int8_t, 4>> where;
    bool departed = false;

    Queues(int clusters, int64_t processors, bool global)
        : clusters(clusters), global(global), idle(clusters, processors), queues(clusters),
          where(jobs.size()) {
        for (int c = 0; c < clusters; c++) order.push_back(c);
    }
    void end(int64_t key) {
        for (int i = 0; i < jobs[key].parts; i++) idle[where[key][i]] += jobs[key].sizes[i];
        departed = true;
    }
    void arrive(int64_t key) {
        auto &queue = queues[global ? 0 : jobs[key].local];
        if (queue.empty()) arrived.push_back(key);
        queue.push_back(key);
    }
    template <class Start> bool visit(int q, Start start) {
        int64_t key = queues[q].front();
        const Job &job = jobs[key];
        auto &to = where[key];
        if (!global && job.parts == 1) {
            if (idle[q] < job.sizes[0]) return false;
            to[0] = q;
        } else {
            unsigned used = 0;
            for (int i = 0; i < job.parts; i++) {
                int best = -1;
                for (int c = 0; c < clusters; c++)
                    if (!(used >> c & 1) && (best < 0 || idle[c] > idle[best])) best = c;
                if (best < 0 || idle[best] < job.sizes[i]) return false;
                used |= 1u << best;
                to[i] = best;
            }
        }
        for (int i = 0; i < job.parts; i++) idle[to[i]] -= job.sizes[i];
        queues[q].pop_front();
        start(key);
        return true;
    }
    template <class Start> void pass(double, Start start) {
        if (global) {
            while (!queues[0].empty() && visit(0, start)) {}
        } else if (departed) {
            enabled.clear();
            disabled.clear();
            for (int q : order)
                if (!queues[q].empty()) enabled.push_back(q);
            while (!enabled.empty()) {
                size_t kept = 0;
                for (int q : enabled)
                    if (visit(q, start) && !queues[q].empty()) enabled[kept++] = q;
                    else disabled.push_back(q);
                enabled.resize(kept);
            }
            for (int q : disabled) last(q);
        } else {
            for (int64_t key : arrived) {
                int q = jobs[key].local;
                if (queues[q].front() != key) continue;
                if (!visit(q, start) || queues[q].empty()) last(q);
            }
        }
        arrived.clear();
        departed = false;
    }
    void last(int q) {
        order.erase(std::find(order.begin(), order.end(), q));
        order.push_back(q);
    }
};

struct Pool {  // FCFS or EASY
    bool easy;
    int64_t free;
    std::deque<int64_t> queue;
    std::set<std::pair<double, int64_t>> expected;

    Pool(int64_t processors, bool easy) : easy(easy), free(processors) {}
    void end(int64_t key) {
        free += jobs[key].sizes[0];
        if (easy) expected.erase({starts[key] + jobs[key].estimate, key});
    }
    void arrive(int64_t key) { queue.push_back(key); }
    template <class Start> void begin(int64_t key, double now, Start start) {
        free -= jobs[key].sizes[0];
        if (easy) expected.insert({now + jobs[key].estimate, key});
        start(key);
    }
    template <class Start> void pass(double now, Start start) {
        while (!queue.empty() && jobs[queue.front()].sizes[0] <= free) {
            begin(queue.front(), now, start);
            queue.pop_front();
        }
        if (!easy || queue.empty()) return;
        int64_t missing = jobs[queue.front()].sizes[0] - free;
        double shadow = now;
        for (auto &[time, key] : expected) {
            if (missing <= 0 && time > shadow) break;
            missing -= jobs[key].sizes[0];
            shadow = std::max(shadow, time);
        }
        int64_t extra = -missing;
        size_t kept = 1;
        for (size_t at = 1; at < queue.size(); at++) {
            int64_t key = queue[at], size = jobs[key].sizes[0];
            bool before = now + jobs[key].estimate <= shadow;
            if (size <= free && (before || size <= extra)) {
                if (!before) extra -= size;
                begin(key, now, start);
            } else {
                queue[kept++] = key;
            }
        }
        queue.resize(kept);
    }
};

int main(int count, char **words) {
    if (count != 5) return 2;
    std::string policy = words[1];
    int64_t processors = atoll(words[2]);
    int clusters = atoi(words[3]);
    Job job;
    while (fread(&job, sizeof job, 1, stdin) == 1) jobs.push_back(job);
    for (int repeat = atoi(words[4]); repeat > 0; repeat--) {
        starts.assign(jobs.size(), 0);
        auto began = std::chrono::steady_clock::now();
        if (policy == "FCFS" || policy == "EASY") {
            Pool pool(processors, policy == "EASY");
            play(pool);
        } else {
            Queues queues(clusters, processors, policy == "GS");
            play(queues);
        }
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        fprintf(stderr, "%.9f\n", took.count());
    }
    fwrite(starts.data(), sizeof(double), starts.size(), stdout);
}
