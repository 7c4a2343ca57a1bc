//! What messages and methods are: from `.proto` files, compiled here, from a descriptor set, or from the server.

use super::{Sources, metadata};
use prost_reflect::{DescriptorPool, MethodDescriptor};
use schema::grpc::Grpc;
use schema::text::{Problem, nearest};
use std::path::{Path, PathBuf};

/// Looks up the method of a call; `at` is the key of its table.
///
/// # Errors
/// Files that cannot be read or compiled, a server that does not answer, and what does not have the method.
pub(super) fn method(grpc: &Grpc, at: &str, sources: Sources<'_>) -> Result<MethodDescriptor, Problem> {
    let key = format!("{at}.method");
    let text = grpc.method.strip_prefix('/').unwrap_or(&grpc.method);
    let (service, name) = text.rsplit_once('/').or_else(|| text.rsplit_once('.')).ok_or_else(|| {
        let cause = format!("`{}` is no method", grpc.method);
        Problem::at(&key, cause, "write it as package.Service/Method")
    })?;
    let pool = pool(grpc, service, at, sources)?;
    let Some(found) = pool.services().find(|known| known.full_name() == service) else {
        let names: Vec<String> = pool.services().map(|known| known.full_name().to_owned()).collect();
        return Err(unknown(&key, "service", service, &names));
    };
    let Some(method) = found.methods().find(|known| known.name() == name) else {
        let names: Vec<String> = found.methods().map(|known| known.name().to_owned()).collect();
        return Err(unknown(&key, &format!("method of {service}"), name, &names));
    };
    Ok(method)
}

/// Most names that a remedy lists.
const NAMES_MAX: usize = 10;

fn unknown(key: &str, what: &str, wanted: &str, names: &[String]) -> Problem {
    let cause = format!("there is no {what} called `{wanted}`");
    let remedy = match nearest(wanted, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "name the file that has it".to_owned(),
        None => format!("there are {}", names[..names.len().min(NAMES_MAX)].join(", ")),
    };
    Problem::at(key, cause, remedy)
}

fn pool(
    grpc: &Grpc,
    service: &str,
    at: &str,
    Sources { folder, server }: Sources<'_>,
) -> Result<DescriptorPool, Problem> {
    match (&grpc.proto[..], &grpc.protoset, server) {
        ([], None, Some(server)) => server.pool(service, &metadata::sent(grpc, at)?, at),
        ([], None, None) => {
            let cause = "nothing says what the messages of the method are";
            let remedy = "name .proto files (proto), or what protoc --descriptor_set_out wrote (protoset)";
            Err(Problem::at(&format!("{at}.proto"), cause, remedy))
        }
        ([_, ..], Some(_), _) => {
            let cause = "what messages are is said twice";
            Err(Problem::at(&format!("{at}.protoset"), cause, "keep one of proto, protoset"))
        }
        ([], Some(file), _) => set(file, &format!("{at}.protoset"), folder),
        (files, None, _) => compiled(files, &grpc.import_path, at, folder),
    }
}

fn set(file: &str, key: &str, folder: &Path) -> Result<DescriptorPool, Problem> {
    let bytes = crate::scenario::read(folder, file, key)?;
    DescriptorPool::decode(&bytes[..]).map_err(|error| {
        let cause = format!("{file} is no complete descriptor set: {error}");
        let remedy = "write it by protoc --include_imports --descriptor_set_out=FILE";
        Problem::at(key, cause, remedy)
    })
}

/// Compiles `.proto` files; imports are looked up in the given folders, else beside the files.
fn compiled(
    files: &[String],
    import_path: &[String],
    at: &str,
    folder: &Path,
) -> Result<DescriptorPool, Problem> {
    let key = format!("{at}.proto");
    let mut includes: Vec<PathBuf> = import_path.iter().map(|path| folder.join(path)).collect();
    if let Some(missing) = includes.iter().find(|path| !path.is_dir()) {
        let cause = format!("there is no folder {}", missing.display());
        return Err(Problem::at(&format!("{at}.import_path"), cause, "name the folder of the imports"));
    }
    let mut paths = Vec::new();
    for file in files {
        let path = find(file, &includes, folder).ok_or_else(|| {
            let cause = format!("there is no file {}", folder.join(file).display());
            Problem::at(&key, cause, "name a .proto file; paths are relative to the scenario file")
        })?;
        paths.push(path);
    }
    // Behind those that are given, so that they find what these do not have.
    includes.extend(paths.iter().filter_map(|path| path.parent()).map(Path::to_owned));
    let compile = || {
        let mut compiler = protox::Compiler::new(&includes)?;
        compiler.include_imports(true).open_files(&paths)?;
        Ok(compiler.descriptor_pool())
    };
    compile().map_err(|error: protox::Error| {
        // Its other form leaves out the line.
        let cause = format!("the .proto files cannot be compiled: {error:?}");
        Problem::at(&key, cause, "mend the file there, or name the folder of its imports (import_path)")
    })
}

/// A regular file, relative to `folder` or to one of the folders of imports: anything else may never end.
fn find(file: &str, includes: &[PathBuf], folder: &Path) -> Option<PathBuf> {
    let folders = std::iter::once(folder).chain(includes.iter().map(PathBuf::as_path));
    folders.map(|folder| folder.join(file)).find(|path| path.is_file())
}
