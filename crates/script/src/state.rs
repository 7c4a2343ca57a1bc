//! One Lua state: opened with the `wrk` table, the script run in it, and calls that may not take for ever.
//!
//! A hook counts instructions while a bounded call runs. Compiled code does not call hooks, so the compiler stays
//! off until the load begins ([`State::compile`]). Absent on purpose: a bound on single calls into C, such as
//! `os.execute` or a pattern without end, and on a script that catches the hook's error for ever.

use crate::addr;
use crate::place::{PRELUDE, locate, whole};
use crate::{Job, Output};
use mlua::chunk::ChunkMode;
use mlua::{
    Function, HookTriggers, IntoLua, IntoLuaMulti, Lua, LuaOptions, StdLib, Table, Value, Variadic, VmState,
};
use request::script::ScriptError;
use std::fs::OpenOptions;
use std::time::{Duration, Instant};
use units::Nanos;

const HOOK_EVERY_INSTRUCTIONS: u32 = 10_000;

/// A state in which the script has run.
pub(crate) struct State {
    pub(crate) lua: Lua,
    calls: Table,
    file: String,
    limit: Nanos,
}

impl State {
    /// Opens a state and runs the script's file in it.
    ///
    /// # Errors
    /// The script's own, and an output file that cannot be written.
    pub(crate) fn open(job: &Job<'_>) -> Result<Self, ScriptError> {
        let (lua, calls) = bare(job).map_err(|error| locate(job.file, &error))?;
        let state = Self { lua, calls, file: job.file.to_owned(), limit: job.limit };
        state.compile(false)?;
        state.print_to(&job.output)?;
        let chunk = state.lua.load(text(job.text)).set_name(format!("@{}", job.file));
        let chunk = chunk.set_mode(ChunkMode::Text).into_function().map_err(|error| state.locate(&error))?;
        state.bounded("loading the script", |_| chunk.call::<()>(()))?;
        Ok(state)
    }

    /// A function of the prelude's, to be called often.
    pub(crate) fn call_named(&self, name: &str) -> Result<Function, ScriptError> {
        self.calls.raw_get(name).map_err(|error| self.locate(&error))
    }

    /// Whether the script has a global function of this name now.
    pub(crate) fn has(&self, name: &str) -> Result<bool, ScriptError> {
        self.call_named("is_function")?.call(name).map_err(|error| self.locate(&error))
    }

    /// Calls `wrk.NAME`, bounded.
    pub(crate) fn call_wrk(&self, name: &str, args: impl IntoLuaMulti) -> Result<(), ScriptError> {
        let phase = format!("{name}()");
        self.bounded(&phase, |lua| self.wrk(lua)?.get::<Function>(name)?.call(args))
    }

    /// The number of addresses in `wrk.addrs`.
    pub(crate) fn addresses(&self) -> Result<usize, ScriptError> {
        let count =
            self.wrk(&self.lua).and_then(|wrk| wrk.get::<Table>("addrs")).map(|addrs| addrs.raw_len());
        count.map_err(|error| self.locate(&error))
    }

    /// Sets a field of the `wrk` table.
    pub(crate) fn set_wrk(&self, name: &str, value: impl IntoLua) -> Result<(), ScriptError> {
        self.wrk(&self.lua).and_then(|wrk| wrk.raw_set(name, value)).map_err(|error| self.locate(&error))
    }

    /// Calls `wrk.init` with the script's arguments, bounded.
    pub(crate) fn init(&self, url: &str, args: &[String]) -> Result<(), ScriptError> {
        let args = Variadic::from_iter(std::iter::once(url).chain(args.iter().map(String::as_str)));
        let init = self.call_named("init")?;
        self.bounded("init()", |_| init.call(args))
    }

    /// The script's file as the user named it.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    fn wrk(&self, lua: &Lua) -> mlua::Result<Table> {
        lua.globals().get("wrk")
    }

    /// Turns LuaJIT's compiler on or off.
    pub(crate) fn compile(&self, on: bool) -> Result<(), ScriptError> {
        let switch = if on { "jit.on()" } else { "jit.off()" };
        self.lua.load(switch).set_name(format!("={PRELUDE}")).exec().map_err(|error| self.locate(&error))
    }

    /// Runs `call` with a limit to its time; then what the script printed is written out.
    pub(crate) fn bounded<R>(
        &self,
        phase: &str,
        call: impl FnOnce(&Lua) -> mlua::Result<R>,
    ) -> Result<R, ScriptError> {
        let end = Instant::now() + Duration::from_nanos(self.limit.0);
        let late = format!("{phase} did not end within {}; look for a loop without end", self.limit);
        let every = HookTriggers::new().every_nth_instruction(HOOK_EVERY_INSTRUCTIONS);
        let hook = self.lua.set_global_hook(every, move |_, debug| {
            if Instant::now() < end {
                return Ok(VmState::Continue);
            }
            let file = debug.source().short_src.unwrap_or_default().into_owned();
            let line = debug.current_line().unwrap_or(0);
            Err(mlua::Error::runtime(format!("{file}:{line}: {late}")))
        });
        let result = hook.and_then(|()| call(&self.lua));
        self.lua.remove_global_hook();
        self.lua.remove_hook();
        let value = result.map_err(|error| self.locate(&error));
        self.flush()?;
        value
    }

    /// Writes out what the script printed.
    pub(crate) fn flush(&self) -> Result<(), ScriptError> {
        self.call_named("flush")?.call(()).map_err(|error| self.locate(&error))
    }

    /// An error of this state's as one with a place.
    pub(crate) fn locate(&self, error: &mlua::Error) -> ScriptError {
        locate(&self.file, error)
    }

    fn print_to(&self, output: &Output) -> Result<(), ScriptError> {
        let open = match output {
            Output::Stdout => return Ok(()),
            Output::Stderr => "return io.stderr".to_owned(),
            Output::File(path) => {
                // Asked of the system first: its reason is better than Lua's.
                if let Err(error) = OpenOptions::new().append(true).create(true).open(path) {
                    return Err(whole(
                        &self.file,
                        format!("cannot print to {}: {error}; name another file", path.display()),
                    ));
                }
                format!("return assert(io.open({:?}, 'a'))", path.display().to_string())
            }
        };
        let file = self.lua.load(open).eval::<Value>();
        file.and_then(|file| self.calls.raw_get::<Function>("print_to")?.call::<()>(file))
            .map_err(|error| self.locate(&error))
    }
}

/// A state with the libraries and the `wrk` table, and the functions that prony calls.
fn bare(job: &Job<'_>) -> mlua::Result<(Lua, Table)> {
    // Its own pcall would be slower, and nothing here panics.
    let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new().catch_rust_panics(false))?;
    let native = lua.create_table()?;
    native.raw_set("scheme", job.url.scheme.as_str())?;
    native.raw_set("host", job.url.host.as_str())?;
    native.raw_set("port", job.url.port.map(|port| port.to_string()))?;
    native.raw_set("path", job.url.path.as_str())?;
    native.raw_set("lookup", lua.create_function(addr::lookup)?)?;
    native.raw_set("connect", lua.create_function(addr::connect)?)?;
    let prelude = lua.load(include_str!("prelude.lua")).set_name(format!("={PRELUDE}"));
    let calls: Table = prelude.call(native)?;
    let debug = lua.create_table()?;
    debug.raw_set("traceback", lua.create_function(traceback)?)?;
    lua.globals().raw_set("debug", debug)?;
    let headers: Table = lua.globals().get::<Table>("wrk")?.get("headers")?;
    for (name, value) in job.headers {
        headers.set(name.as_str(), value.as_str())?;
    }
    Ok((lua, calls))
}

/// `debug.traceback([message [, level]])`, the one function of that library that is common and safe.
fn traceback(lua: &Lua, (message, level): (Value, Option<usize>)) -> mlua::Result<Value> {
    match lua.coerce_string(message.clone())? {
        None if !message.is_nil() => Ok(message),
        text => {
            let text = text.map(|text| text.to_string_lossy());
            lua.traceback(text.as_deref(), level.unwrap_or(1)).map(Value::String)
        }
    }
}

/// As Lua reads a file: a first line that begins with `#` is for the shell, a byte order mark is for nobody.
fn text(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    if text.starts_with('#') { format!("--{text}") } else { text.to_owned() }
}
