// How long requests took by the target's own clock, as a histogram in Prometheus'
// text format, so that prony can hold its 95th percentile against the target's.
//
// The clock begins when Node has read a head: under many connections the wait
// before that is not seen. So it is off unless REQUEST_TIMES turns it on. With
// cluster workers each has only its own, which nobody can add up.

const NAME = 'http_request_duration_seconds';
// Two bounds an octave, from 10 us to more than 10 s; the last bucket has none.
const BOUNDS = Array.from({ length: 41 }, (_, k) => 1e-5 * 2 ** (k / 2));

/** A histogram of durations. */
export class Times {
  #buckets = new Array(BOUNDS.length + 1).fill(0);

  #sum = 0;

  /** @param {number} seconds */
  observe(seconds) {
    let low = 0;
    let high = BOUNDS.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (BOUNDS[middle] < seconds) low = middle + 1;
      else high = middle;
    }
    this.#buckets[low] += 1;
    this.#sum += seconds;
  }

  /** @returns {string} what /debug/requests answers */
  text() {
    let below = 0;
    const lines = this.#buckets.map((count, k) => {
      below += count;
      return `${NAME}_bucket{le="${k < BOUNDS.length ? BOUNDS[k] : '+Inf'}"} ${below}`;
    });
    return [`# TYPE ${NAME} histogram`, ...lines, `${NAME}_sum ${this.#sum}`, `${NAME}_count ${below}`, ''].join('\n');
  }
}
