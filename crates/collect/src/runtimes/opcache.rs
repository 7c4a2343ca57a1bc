//! `php.opcache`: `opcache_get_status(false)` as JSON, which the target serves from a PHP process.
//!
//! | key | kind | in the answer |
//! |---|---|---|
//! | `enabled` | gauge | `opcache_enabled`: 1 or 0; the rest is absent where it is 0 |
//! | `used_bytes`, `free_bytes`, `wasted_bytes` | gauge | `memory_usage` |
//! | `cached_scripts`, `cached_keys`, `cached_keys_max` | gauge | `opcache_statistics` |
//! | `hit_percent` | gauge | `opcache_hit_rate`, since the start |
//! | `hits`, `misses` | delta | `opcache_statistics` |
//! | `restarts` | delta | restarts of the cache: out of memory, out of keys, and asked for |

use super::fields::Table;
use crate::error::ParseError;
use crate::reading::Reading;

/// Name of the source.
pub const NAME: &str = "php.opcache";

const TABLE: Table = Table {
    gauges: &[
        ("/opcache_enabled", "enabled"),
        ("/memory_usage/used_memory", "used_bytes"),
        ("/memory_usage/free_memory", "free_bytes"),
        ("/memory_usage/wasted_memory", "wasted_bytes"),
        ("/opcache_statistics/num_cached_scripts", "cached_scripts"),
        ("/opcache_statistics/num_cached_keys", "cached_keys"),
        ("/opcache_statistics/max_cached_keys", "cached_keys_max"),
        ("/opcache_statistics/opcache_hit_rate", "hit_percent"),
    ],
    counters: &[
        ("/opcache_statistics/hits", "hits"),
        ("/opcache_statistics/misses", "misses"),
        ("/opcache_statistics/oom_restarts", "restarts"),
        ("/opcache_statistics/hash_restarts", "restarts"),
        ("/opcache_statistics/manual_restarts", "restarts"),
    ],
};

/// Parses the status.
///
/// # Errors
/// It is no JSON, or not of the OPcache.
pub fn parse(body: &[u8]) -> Result<Reading, ParseError> {
    TABLE.parse(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_answer_of_php_8_2() {
        let reading = parse(include_bytes!("../../fixtures/php/opcache.json")).unwrap();
        assert_eq!((reading.gauge("enabled"), reading.gauge("cached_scripts")), (Some(1.0), Some(11.0)));
        assert_eq!(
            (reading.gauge("used_bytes"), reading.gauge("free_bytes")),
            (Some(17_661_592.0), Some(116_556_136.0))
        );
        assert_eq!(
            (reading.counter("hits"), reading.counter("misses"), reading.counter("restarts")),
            (Some(30), Some(11), Some(0))
        );
        assert!((reading.gauge("hit_percent").unwrap() - 73.17).abs() < 0.01);
    }

    #[test]
    fn a_cache_that_is_off_tells_just_that() {
        let reading = parse(br#"{"opcache_enabled":false}"#).unwrap();
        assert_eq!((reading.gauges.len(), reading.gauge("enabled")), (1, Some(0.0)));
        assert!(reading.counters.is_empty());
    }
}
