//! Asking a server what its messages and methods are: `grpc.reflection.v1`, else `v1alpha`, whose messages are the same.
//!
//! Each question is a stream of its own with one message each way. Invariants: the server is asked for the service and then for
//! each file that is imported and missing, until none is; files, bytes and questions are bounded, and a file that was not asked
//! for does no harm; an error names cause and remedy.
//! Absent on purpose: the connection and its time ([`Ask`]); types of `google/protobuf`, which are built in.
//! Source: grpc/reflection/v1/reflection.proto.

use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};
use prost_reflect::{DescriptorPool, prost};
use request::protobuf::{Fields, Raw};
use schema::text::{Problem, nearest};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Newer first: servers that have both take the older one only for clients of old.
const METHODS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];
/// Most files of one service, and thereby most questions.
const FILES_MAX: usize = 1000;
/// Most bytes of all files of one service.
const BYTES_MAX: usize = 16 << 20;
/// Characters shown of a server's own words.
const SHOWN_CHARS: usize = 200;
/// Most services that a remedy lists.
const NAMES_MAX: usize = 10;
/// The types that every compiler of `.proto` files has built in.
const BUILT_IN: &str = "google/protobuf/";

/// Fields of a question.
const FILE_BY_NAME: u8 = 3;
const FILE_OF_SYMBOL: u8 = 4;
const LIST_SERVICES: u8 = 7;
/// Fields of an answer.
const FILES: u64 = 4;
const SERVICES: u64 = 6;
const ERROR: u64 = 7;

/// Who can call a server.
pub trait Ask {
    /// Calls a method once, with one message each way; `path` is `/package.Service/Method`.
    ///
    /// # Errors
    /// There is no message.
    fn ask(&self, path: &str, metadata: &[(String, String)], message: &[u8]) -> Result<Vec<u8>, Unanswered>;
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The server has no such method.
    Unimplemented,
    /// Anything else: the cause, and what to do.
    Failed {
        /// What went wrong.
        cause: String,
        /// What to do, where there is more to it than naming files.
        remedy: Option<String>,
    },
}

/// A server as a source of descriptors; each service is asked for once.
pub struct Reflection<'a> {
    server: &'a dyn Ask,
    known: RefCell<BTreeMap<String, DescriptorPool>>,
}

impl fmt::Debug for Reflection<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reflection").finish_non_exhaustive()
    }
}

impl<'a> Reflection<'a> {
    /// Asks this server.
    #[must_use]
    pub fn new(server: &'a dyn Ask) -> Self {
        Self { server, known: RefCell::default() }
    }

    /// All that a service needs; `at` is the key of the call's table.
    ///
    /// # Errors
    /// No server, one without reflection, or one that does not have the service.
    pub(super) fn pool(
        &self,
        service: &str,
        metadata: &[(String, String)],
        at: &str,
    ) -> Result<DescriptorPool, Problem> {
        if let Some(pool) = self.known.borrow().get(service) {
            return Ok(pool.clone());
        }
        let mut asked = Asked { server: self.server, metadata, versions: &METHODS };
        let pool = asked.pool(service).map_err(|no| no.at(service, at, &mut asked))?;
        self.known.borrow_mut().insert(service.to_owned(), pool.clone());
        Ok(pool)
    }
}

/// Why there are no descriptors.
#[derive(Debug)]
enum No {
    Unanswered(Unanswered),
    /// The server knows no such service or file: its words.
    Unknown(String),
    /// What it sent is of no use.
    Useless(String),
}

impl No {
    fn at(self, service: &str, at: &str, asked: &mut Asked<'_>) -> Problem {
        let files = "name the .proto files (proto), or a descriptor set (protoset)";
        match self {
            Self::Unanswered(Unanswered::Unimplemented) => {
                let cause =
                    "nothing says what the messages of the method are, and the server has no reflection";
                Problem::at(&format!("{at}.proto"), cause, files)
            }
            Self::Unanswered(Unanswered::Failed { cause, remedy }) => {
                let cause =
                    format!("the server cannot be asked what the messages of the method are: {cause}");
                let remedy =
                    remedy.map_or_else(|| files.to_owned(), |remedy| format!("{remedy}; or {files}"));
                Problem::at(&format!("{at}.proto"), cause, remedy)
            }
            Self::Unknown(words) => {
                let names = asked.services().unwrap_or_default();
                let remedy = match nearest(service, names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if names.is_empty() => files.to_owned(),
                    None => format!("it has {}", names[..names.len().min(NAMES_MAX)].join(", ")),
                };
                let cause = format!("the server does not know `{service}`{words}");
                Problem::at(&format!("{at}.method"), cause, remedy)
            }
            Self::Useless(cause) => {
                let cause = format!("what the server says of `{service}` is of no use: {cause}");
                Problem::at(&format!("{at}.proto"), cause, files)
            }
        }
    }
}

/// A server that is being asked.
struct Asked<'a> {
    server: &'a dyn Ask,
    metadata: &'a [(String, String)],
    /// Methods that it may have, the one to be tried first.
    versions: &'static [&'static str],
}

impl Asked<'_> {
    /// The service's file, and every file that is imported.
    fn pool(&mut self, service: &str) -> Result<DescriptorPool, No> {
        let mut files = Files::default();
        files.add(self.files(FILE_OF_SYMBOL, service)?)?;
        let mut wanted = BTreeSet::new();
        while let Some(name) = files.missing() {
            if !wanted.insert(name.clone()) {
                return Err(No::Useless(format!("it does not send the file {}", shown(&name))));
            }
            match built_in(&name) {
                Some(file) => files.add(vec![file])?,
                None => files.add(self.files(FILE_BY_NAME, &name)?)?,
            }
        }
        let set = FileDescriptorSet { file: files.known.into_values().collect() };
        DescriptorPool::from_file_descriptor_set(set).map_err(|error| No::Useless(shown(&error.to_string())))
    }

    fn files(&mut self, question: u8, name: &str) -> Result<Vec<FileDescriptorProto>, No> {
        let answer = self.answer(question, name)?;
        let Some(found) = within(&answer, FILES) else {
            return Err(No::Useless("an answer holds no files".to_owned()));
        };
        let files = Fields(found).filter_map(|(number, raw)| match raw {
            Raw::Bytes(bytes) if number == 1 => Some(FileDescriptorProto::decode(bytes)),
            _ => None,
        });
        files
            .collect::<Result<_, prost::DecodeError>>()
            .map_err(|error| No::Useless(format!("a file is no descriptor: {error}")))
    }

    /// Names of all services.
    fn services(&mut self) -> Result<Vec<String>, No> {
        let answer = self.answer(LIST_SERVICES, "*")?;
        let services = within(&answer, SERVICES).map(Fields).into_iter().flatten();
        let names = services.filter_map(|(number, raw)| match raw {
            Raw::Bytes(service) if number == 1 => within(service, 1).map(text),
            _ => None,
        });
        Ok(names.take(FILES_MAX).collect())
    }

    /// Asks one question, of the older version where the server does not have the newer.
    fn answer(&mut self, question: u8, text: &str) -> Result<Vec<u8>, No> {
        let message = asking(question, text);
        while let Some((path, older)) = self.versions.split_first() {
            match self.server.ask(path, self.metadata, &message) {
                Ok(answer) => return understood(answer),
                Err(Unanswered::Unimplemented) => self.versions = older,
                Err(failed) => return Err(No::Unanswered(failed)),
            }
        }
        Err(No::Unanswered(Unanswered::Unimplemented))
    }
}

/// Files by name, within their bounds.
#[derive(Default)]
struct Files {
    known: BTreeMap<String, FileDescriptorProto>,
    bytes: usize,
}

impl Files {
    fn add(&mut self, files: Vec<FileDescriptorProto>) -> Result<(), No> {
        for file in files {
            self.bytes += file.encoded_len();
            self.known.entry(file.name().to_owned()).or_insert(file);
        }
        if self.known.len() > FILES_MAX || self.bytes > BYTES_MAX {
            let cause = format!("more than {FILES_MAX} files or {} MiB", BYTES_MAX >> 20);
            return Err(No::Useless(cause));
        }
        Ok(())
    }

    /// A file that is imported and not there.
    fn missing(&self) -> Option<String> {
        let mut imported = self.known.values().flat_map(|file| &file.dependency);
        imported.find(|name| !self.known.contains_key(*name)).cloned()
    }
}

fn built_in(name: &str) -> Option<FileDescriptorProto> {
    let pool = name.starts_with(BUILT_IN).then(DescriptorPool::global)?;
    pool.get_file_by_name(name).map(|file| file.file_descriptor_proto().clone())
}

/// A question: one field with a text.
fn asking(question: u8, text: &str) -> Vec<u8> {
    let mut message = Vec::new();
    prost::encoding::string::encode(u32::from(question), &text.to_owned(), &mut message);
    message
}

/// An answer that is no error.
fn understood(answer: Vec<u8>) -> Result<Vec<u8>, No> {
    let Some(error) = within(&answer, ERROR) else { return Ok(answer) };
    let words = within(error, 2).map(text).filter(|words| !words.is_empty());
    Err(No::Unknown(words.map_or_else(String::new, |words| format!(": {words}"))))
}

/// The bytes of a message's field.
fn within(message: &[u8], wanted: u64) -> Option<&[u8]> {
    Fields(message).find_map(|(number, raw)| match raw {
        Raw::Bytes(bytes) if number == wanted => Some(bytes),
        _ => None,
    })
}

fn text(bytes: &[u8]) -> String {
    shown(&String::from_utf8_lossy(bytes))
}

/// A server's words on one line, cut short.
fn shown(words: &str) -> String {
    words.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const PROTO: &str =
        "syntax = \"proto3\"; package p; import \"q.proto\"; import \"google/protobuf/empty.proto\";
        service S { rpc M(q.Q) returns (google.protobuf.Empty); }";
    const OTHER: &str = "syntax = \"proto3\"; package q; message Q { int32 n = 1; }";

    /// A server that answers from these files, perhaps only in the older version.
    struct Server {
        files: Vec<(&'static str, Vec<u8>)>,
        version: Option<&'static str>,
        asked: Cell<usize>,
    }

    impl Server {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("p.proto"), PROTO).unwrap();
            std::fs::write(folder.path().join("q.proto"), OTHER).unwrap();
            let set = protox::compile(["p.proto"], [folder.path()]).unwrap();
            let files = ["p.proto", "q.proto"].map(|name| {
                let file = set.file.iter().find(|file| file.name() == name).unwrap();
                (name, file.encode_to_vec())
            });
            Self { files: files.to_vec(), version: Some("v1."), asked: Cell::new(0) }
        }

        fn pool(&self, service: &str) -> Result<DescriptorPool, String> {
            let metadata = [("token".to_owned(), "x".to_owned())];
            let pool = Reflection::new(self).pool(service, &metadata, "request.grpc");
            pool.map_err(|no| format!("{}: {}; {}", no.key.join("."), no.cause, no.remedy))
        }
    }

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        prost::encoding::bytes::encode(u32::from(number), &bytes.to_vec(), &mut out);
        out
    }

    impl Ask for Server {
        fn ask(
            &self,
            path: &str,
            metadata: &[(String, String)],
            message: &[u8],
        ) -> Result<Vec<u8>, Unanswered> {
            assert_eq!(metadata.len(), 1);
            self.asked.set(self.asked.get() + 1);
            if self.version.is_none_or(|version| !path.contains(version)) {
                return Err(Unanswered::Unimplemented);
            }
            let (number, Raw::Bytes(name)) = Fields(message).next().unwrap() else { panic!("{message:?}") };
            let name = if number == 4 && name == b"p.S" { b"p.proto" } else { name };
            Ok(match self.files.iter().find(|(file, _)| file.as_bytes() == name) {
                Some((_, file)) => field(4, &field(1, file)),
                None if number == 7 => field(6, &field(1, &field(1, b"p.S"))),
                None => field(7, &[&[8, 5][..], &field(2, b"not\nfound")].concat()),
            })
        }
    }

    #[test]
    fn files_and_their_imports_are_asked_for_once() {
        for (version, asked) in [("v1.", 2), ("v1alpha.", 3)] {
            let server = Server { version: Some(version), ..Server::new() };
            let reflection = Reflection::new(&server);
            let metadata = [("token".to_owned(), "x".to_owned())];
            for _ in 0..2 {
                let pool = reflection.pool("p.S", &metadata, "request.grpc").unwrap();
                let method = pool.get_service_by_name("p.S").unwrap().methods().next().unwrap();
                assert_eq!((method.name(), method.input().full_name()), ("M", "q.Q"));
            }
            assert_eq!(server.asked.get(), asked, "{version}");
        }
    }

    #[test]
    fn what_cannot_be_learnt_has_its_remedy() {
        let said = |change: &dyn Fn(&mut Server), service: &str| {
            let mut server = Server::new();
            change(&mut server);
            server.pool(service).expect_err("it cannot be learnt")
        };
        for (text, parts) in [
            (said(&|server| server.version = None, "p.S"), ["request.grpc.proto", "no reflection"]),
            (
                said(&|_| (), "p.T"),
                ["request.grpc.method: the server does not know `p.T`: not\\nfound", "did you mean `p.S`?"],
            ),
            (said(&|server| server.files[0].1.truncate(5), "p.S"), ["request.grpc.proto", "no descriptor"]),
            (said(&|server| drop(server.files.remove(1)), "p.S"), ["does not know", "p.S"]),
            (
                said(&|server| server.files[1].1 = server.files[0].1.clone(), "p.S"),
                ["it does not send the file q.proto", "protoset"],
            ),
        ] {
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
    }

    #[test]
    fn endless_imports_end() {
        struct Endless;
        impl Ask for Endless {
            fn ask(&self, _: &str, _: &[(String, String)], message: &[u8]) -> Result<Vec<u8>, Unanswered> {
                let Some((_, Raw::Bytes(name))) = Fields(message).next() else { panic!("{message:?}") };
                let name = String::from_utf8_lossy(name).into_owned();
                let file = FileDescriptorProto {
                    dependency: vec![format!("{name}x")],
                    name: Some(name),
                    ..FileDescriptorProto::default()
                };
                Ok(field(4, &field(1, &file.encode_to_vec())))
            }
        }
        let problem = Reflection::new(&Endless).pool("s", &[], "request.grpc").unwrap_err();
        assert!(problem.cause.contains("more than 1000 files"), "{problem:?}");
    }
}
