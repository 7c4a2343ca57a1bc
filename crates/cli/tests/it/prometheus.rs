//! A real Prometheus of a test's own, which keeps native histograms and takes scraped labels as they are.

use crate::load::wait_until;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// It ends with the test.
pub(crate) struct Prometheus {
    child: Child,
    pub(crate) addr: SocketAddr,
}

impl Prometheus {
    /// Scrapes addresses at an interval, such as `1s`, once it is ready; its files are in a folder.
    pub(crate) fn start(folder: &Path, scraped: &[SocketAddr], interval: &str) -> Self {
        let config = folder.join("prometheus.yml");
        let targets: Vec<String> = scraped.iter().map(|addr| format!("'{addr}'")).collect();
        let text = format!(
            "global: {{ scrape_interval: {interval}, scrape_timeout: {interval} }}\nscrape_configs:\n- job_name: prony\n  \
             honor_labels: true\n  static_configs: [{{ targets: [{}] }}]\n",
            targets.join(", ")
        );
        std::fs::write(&config, text).unwrap();
        // It cannot be given port 0: one that was free a moment ago.
        let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
            .arg(format!("--web.listen-address={addr}"))
            .arg("--enable-feature=native-histograms")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let prometheus = Self { child, addr };
        wait_until("Prometheus is ready", || prometheus.get("/-/ready").contains(" 200 OK"));
        prometheus
    }

    /// The values of an instant query.
    pub(crate) fn asked(&self, query: &str) -> Vec<f64> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = self.get(&format!("/api/v1/query?query={query}"));
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let answer: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        assert_eq!(answer["status"], "success", "{answer}");
        let rows = answer["data"]["result"].as_array().cloned().unwrap_or_default();
        rows.iter().filter_map(|row| row["value"][1].as_str()?.parse().ok()).collect()
    }

    /// An answer, head and body, of HTTP/1.0, so that nothing is chunked; empty where nobody listens.
    fn get(&self, path: &str) -> String {
        let Ok(mut stream) = TcpStream::connect(self.addr) else { return String::new() };
        let _ = write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.addr);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
