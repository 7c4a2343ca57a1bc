//! The Markdown report as a snapshot of the sample run, with the middle trials left out.

mod sample;

#[test]
fn markdown() {
    let mut analysis = sample::analysis();
    analysis.trials.retain(|trial| trial.id < 3 || trial.id == 14);
    insta::assert_snapshot!(report::markdown(&sample::plan::run_file(), &analysis), @r#"
    # Which Go framework serves small JSON fastest on one core?

    **go/gin serves 4.7 % more requests per second than go/echo at 128 connections (95 % interval 4.2 % to 5.2 %); at 16 connections they are equivalent.**

    Run `2026-11-21T09-30-00Z-go-frameworks`, started 2026-11-21T09:30:00Z.

    ## Can these numbers be believed?

    **! With reservations.** Nothing speaks against the comparisons; absolute numbers carry the reservations below.

    - ! generator and target share 2 CPUs: the generator used 38 % of one of them → run on a host with at least 4 cores, or move the generator with --fleet
    - ! 1 of 20 trials is void (p99 pacer lag) → rerun with prony run --resume to replace it
    - ✓ all 19 valid trials obey Little's law within 0.4 %

    Instrument: not calibrated: run \`prony calibrate\`.

    ## Claims

    | Verdict | Claim | Evidence |
    |---|---|---|
    | ✓ holds | Gin serves more requests per second than Echo at 128 connections | throughput is 4.7 % higher (4.2 % to 5.2 %), asked for \> 1.0, over 5 blocks — ratio 1.047 (1.042 … 1.052) |
    | ? inconclusive | Gin's p99 at 128 connections is at most 80 % of Echo's | p99 is 17.9 % lower (14.6 % to 21.0 %), asked for \<= 0.8, over 5 blocks; about 12 blocks would decide — ratio 0.821 (0.790 … 0.854) |
    | ✗ does not hold | Gin uses no more CPU per request than Echo at 128 connections | CPU per request is 3.1 % higher (2.2 % to 4.0 %), asked for \<= 1.0, over 5 blocks — ratio 1.031 (1.022 … 1.040) |
    | – void | Gin's p99.9 is below Echo's at 128 connections | no trial has enough requests for p99.9: lengthen the samples |

    ## Comparison

    Change of the first against the second with its 95 % interval over blocks; a change within ±2 % counts as equal.

    ### `go/gin` against `go/echo`, 16 connections

    | Metric | Change | Interval | Verdict | Rank check (Hodges–Lehmann) | Ratio of means (Fieller) | Bootstrap | p (Holm) | Blocks |
    |---|--:|--:|---|--:|--:|--:|--:|--:|
    | Throughput | −0.8 % | −1.3 … −0.4 % | = equivalent | −0.8 % (−1.3 … −0.4 %) | −0.8 % (−1.3 … −0.4 %) | – | 0.031 | 5 |
    | p50 | +1.1 % | −0.2 … +2.4 % | ? inconclusive | +1.1 % (−0.2 … +2.4 %) | +1.1 % (−0.2 … +2.4 %) | – | 0.031 | 5 |
    | p99 | +1.0 % | −0.2 … +2.2 % | ? inconclusive | +1.0 % (−0.2 … +2.2 %) | +1.0 % (−0.2 … +2.2 %) | – | 0.031 | 5 |
    | Memory | −3.7 % | −4.9 … −2.5 % | ▲ better | −3.7 % (−4.9 … −2.5 %) | −3.7 % (−4.9 … −2.5 %) | – | 0.031 | 5 |

    ### `go/gin` against `go/echo`, 128 connections

    | Metric | Change | Interval | Verdict | Rank check (Hodges–Lehmann) | Ratio of means (Fieller) | Bootstrap | p (Holm) | Blocks |
    |---|--:|--:|---|--:|--:|--:|--:|--:|
    | Throughput | +4.7 % | +4.2 … +5.2 % | ▲ faster | +4.7 % (+4.2 … +5.2 %) | +4.7 % (+4.2 … +5.2 %) | – | \< 0.001 | 5 |
    | p50 | −4.6 % | −5.3 … −3.8 % | ▲ faster | −4.5 % (−5.3 … −3.8 %) | −4.5 % (−5.3 … −3.8 %) | – | 0.031 | 5 |
    | p99 | −17.9 % | −21.0 … −14.6 % | ▲ faster | −17.8 % (−21.0 … −14.6 %) | −17.8 % (−21.0 … −14.6 %) | – | 0.031 | 5 |
    | p99.9 | – | – | – refused¹ | – | – | – | – | 0 |
    | CPU per request | +3.1 % | +2.2 … +4.0 % | ▼ worse | +3.1 % (+2.2 … +4.0 %) | +3.1 % (+2.2 … +4.0 %) | – | 0.031 | 5 |

    ¹ p99.9 needs at least 300,000 requests in a trial: lengthen the samples

    ## Cells

    Centre over the valid trials, with its 95 % interval; cold start is the median time from execution to the first good answer.

    | Cell | Label | Throughput | p50 | p99 | Errors | CPU per request | Memory | Cold start | Trials |
    |---|---|--:|--:|--:|--:|--:|--:|--:|---|
    | `c1` | `go/gin, 16 connections` | 41,289/s¹ | 372 µs¹ | 1.02 ms¹ | 0 % | 19.4 µs¹ | 17.4 MiB¹ | 21.4 ms | 4 valid, 1 void |
    | `c2` | `go/gin, 128 connections` | 48,909/s (48,616 … 49,202/s) | 2.51 ms (2.49 … 2.52 ms) | 6.90 ms (6.86 … 6.94 ms) | 0 % | 19.4 µs (19.3 … 19.5 µs) | 23.0 MiB (22.8 … 23.1 MiB) | 21.4 ms | 5 valid |
    | `c3` | `go/echo, 16 connections` | 41,633/s (41,383 … 41,883/s) | 368 µs (366 … 370 µs) | 1.01 ms (1.00 … 1.02 ms) | 0 % | 19.4 µs (19.3 … 19.5 µs) | 18.0 MiB (17.9 … 18.1 MiB) | 21.4 ms | 5 valid |
    | `c4` | `go/echo, 128 connections` | 46,634/s (46,354 … 46,914/s) | 2.63 ms (2.62 … 2.65 ms) | 8.42 ms (8.37 … 8.47 ms) | 0 % | 19.4 µs (19.3 … 19.5 µs) | 24.1 MiB (24.0 … 24.3 MiB) | 21.4 ms | 5 valid |

    ¹ 4 valid trials; an interval needs 5: rerun with --resume

    ## Where the spread comes from

    Standard deviation between the samples of one trial and between trials, as shares of the mean (Kalibera and Jones). Where most variance lies between trials, restarting changes the answer: more blocks narrow the interval, longer trials do not.

    | Cell | Metric | Trials × samples | Between samples | Between trials | Variance between trials | Best samples in a trial |
    |---|---|--:|--:|--:|--:|--:|
    | `go/gin, 16 connections` | Throughput | 4 × 3 | 1.20 % | none beyond the samples' | 0 % | – |
    | `go/gin, 128 connections` | Throughput | 5 × 3 | 1.20 % | 3.10 % | 87.0 % | 2 |
    | `go/echo, 16 connections` | Throughput | 5 × 3 | 1.20 % | 3.10 % | 87.0 % | 2 |
    | `go/echo, 128 connections` | Throughput | 5 × 3 | 1.20 % | 3.10 % | 87.0 % | 2 |

    ## Trials

    3 of 20 planned trials run: 2 valid, 1 void. Every scheduled request is completed, failed or censored.

    | Trial | Block | Cell | Outcome | Window | Throughput | p50 | p99 | Scheduled | Completed | Failed | Censored | Reasons |
    |--:|--:|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|
    | 1 | 1 | `go/gin, 16 connections` | ✓ valid | steady | 41,300/s | 372 µs | 1.02 ms | 619,564 | 619,500 | 0 | 64 |  |
    | 2 | 1 | `go/gin, 128 connections` | ✓ valid | steady | 48,949/s | 2.51 ms | 6.89 ms | 734,297 | 734,233 | 0 | 64 |  |
    | 14 | 4 | `go/gin, 16 connections` | ! void | cannot be told | 41,258/s | 372 µs | 1.02 ms | 618,940 | 618,876 | 0 | 64 | p99 pacer lag 412 µs is over the limit of 125 µs: the generator was late; give it a core of its own |

    ## Environment

    |  | Fact | Found | Effect and remedy |
    |---|---|---|---|
    | ! warning | Cores | `2` | generator and target get one each; the kernel shares both → use a host with at least 4 cores |
    | · note | Frequency governor | – | cannot be read in this virtual machine; frequency may drift |
    | ✓ ok | Swap | `off` | no page of the target can be swapped out |
    | ✓ ok | Accept queue limit (somaxconn) | `4096` | bursts of connections are accepted |
    | ✓ ok | Descriptor limit | `20,000` | bounds connections per process |

    ### Versions

    | What | Version |
    |---|---|
    | gin | v1.11.0 |
    | go | go1.26.3 linux/amd64 |
    | linux | 6.12.41 |
    | prony | 0.1.0 (94d60fa) |

    ## How to reproduce

    ```
    prony run experiments/go-frameworks.toml
    ```

    Seed 1.

    | Setting | Value |
    |---|---|
    | Scenario | json: GET /json |
    | Design | 5 blocks of 4 cells in random order |
    | Seed | 1 |
    | Warm-up | 3 s to 20 s |
    | Samples | 3 × 5 s in each trial, then 1 s drain |
    | Margin and confidence | ±2 %, 95 % |
    | CPU sets | generator 0; target 1 |
    | Target | go/gin: built from /srv/prony/targets/go/gin |
    | Target | go/echo: built from /srv/prony/targets/go/echo |
    | Cell | c1 = go/gin, 16 connections: closed, 16 connections, 1 worker |
    | Cell | c2 = go/gin, 128 connections: closed, 128 connections, 1 worker |
    | Cell | c3 = go/echo, 16 connections: closed, 16 connections, 1 worker |
    | Cell | c4 = go/echo, 128 connections: closed, 128 connections, 1 worker |
    | Instrument | clock step 21 ns, one reading 23.4 ns; a timed wait of 100 µs wakes 58.2 µs late (p50), 143 µs (p99) |

    ### Experiment file

    ```
    [experiment]
    name = "go-frameworks"
    blocks = 5
    seed = 1

    [[target]]
    use = "go/gin"

    [[target]]
    use = "go/echo"

    [scenario]
    use = "json"

    [load]
    model = "closed"
    connections = [16, 128]
    ```
    "#);
}

#[test]
fn what_was_tuned_stands_among_the_settings() {
    let mut run = sample::plan::run_file();
    let tuned = |name: &str, old: &str, new: &str| schema::tuning::TunedSetting {
        name: name.into(),
        old: old.into(),
        new: new.into(),
    };
    run.environment.tuned = vec![tuned("net.core.somaxconn", "128", "4096")];
    let text = report::markdown(&run, &sample::analysis());
    assert!(text.contains("net.core.somaxconn: 4096 instead of 128"), "{text}");
}
