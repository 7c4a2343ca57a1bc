//! One worker's state as the engine uses it, and the handle that scripts hold of it.
//!
//! A handle has no strong hold on the state: the state holds a handle of itself.

use crate::addr::{Addr, expect};
use crate::copy::{Plain, kind};
use crate::framing;
use crate::place::whole;
use crate::state::State;
use mlua::{Error, Function, Lua, LuaString, MetaMethod, Result, UserData, UserDataFields, UserDataMethods};
use mlua::{Value, WeakLua};
use request::script::{Script, ScriptError};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::Nanos;

/// What the worker and all handles of it share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    stopped: AtomicBool,
    address: Mutex<Option<SocketAddr>>,
}

impl Shared {
    fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread as a script sees it.
#[derive(Clone)]
pub(crate) struct Handle {
    shared: Arc<Shared>,
    lua: WeakLua,
}

impl Handle {
    pub(crate) fn new(lua: &Lua) -> Self {
        Self { shared: Arc::default(), lua: lua.weak() }
    }

    fn lua(&self) -> Result<Lua> {
        self.lua.try_upgrade().ok_or_else(|| Error::runtime("the thread has ended"))
    }

    /// A stop before the load means nothing, as in wrk.
    pub(crate) fn forget_stop(&self) {
        self.shared.stopped.store(false, Ordering::Relaxed);
    }
}

impl UserData for Handle {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, handle| Ok(handle.shared.address().map(Addr)));
        fields.add_field_method_set("addr", |_, handle, value: Value| {
            let address = expect(&value)?;
            *handle.shared.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, handle, name: LuaString| {
            let there = handle.lua()?;
            let value: Value = there.globals().get(there.create_string(name.as_bytes())?)?;
            Plain::take(&value)?.put(lua)
        });
        methods.add_method("set", |_, handle, (name, value): (LuaString, Value)| {
            let (there, value) = (handle.lua()?, Plain::take(&value)?);
            there.globals().set(there.create_string(name.as_bytes())?, value.put(&there)?)
        });
        methods.add_method("stop", |_, handle, ()| {
            handle.shared.stopped.store(true, Ordering::Relaxed);
            Ok(())
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, _, (_, value): (Value, Value)| -> Result<()> {
            Err(Error::runtime(format!("cannot set '{}' on thread; use thread:set()", kind(&value))))
        });
    }
}

/// One worker's script.
pub(crate) struct Worker {
    state: State,
    shared: Arc<Shared>,
    request: Function,
    response: Option<Function>,
    delay: Option<Function>,
    constant: Option<Vec<u8>>,
}

impl Worker {
    /// Looks at what the script defines, after `init` has run; from here on it may be compiled.
    ///
    /// # Errors
    /// What `request` throws where it is asked, and text that is no request.
    pub(crate) fn new(
        state: State,
        handle: &Handle,
        is_first: bool,
    ) -> std::result::Result<Self, ScriptError> {
        let optional = |name| Ok(if state.has(name)? { Some(state.call_named(name)?) } else { None });
        let (response, delay) = (optional("response")?, optional("delay")?);
        let is_constant = !state.has("request")?;
        let request = state.call_named("request")?;
        let mut worker =
            Self { state, shared: handle.shared.clone(), request, response, delay, constant: None };
        // wrk asks the first thread once more than it sends, to see what it will send; scripts count that.
        if is_constant || is_first {
            let text = worker.first()?;
            worker.constant = is_constant.then_some(text);
        }
        handle.forget_stop();
        worker.state.compile(true)?;
        Ok(worker)
    }

    /// One text from the script, which must be whole requests.
    fn first(&self) -> std::result::Result<Vec<u8>, ScriptError> {
        let text = self.state.bounded("request()", |_| self.request.call::<Value>(()))?;
        let text = self.text(&text)?.as_bytes().to_vec();
        match framing::count(&text) {
            Ok(_) => Ok(text),
            Err(fault) => Err(self.fault(format!(
                "request() returned text that is not whole requests: {}",
                fault.describe(&text)
            ))),
        }
    }

    fn text<'a>(&self, value: &'a Value) -> std::result::Result<&'a LuaString, ScriptError> {
        value.as_string().ok_or_else(|| {
            let got = kind(value);
            self.fault(format!("request() returned {got}; it must return the text of a request"))
        })
    }

    fn fault(&self, message: String) -> ScriptError {
        whole(self.state.file(), message)
    }

    /// The state, so that others can see what is in it once the worker has ended.
    pub(crate) fn lua(&self) -> Lua {
        self.state.lua.clone()
    }
}

impl Script for Worker {
    fn request(&mut self, out: &mut Vec<u8>) -> std::result::Result<(), ScriptError> {
        if let Some(text) = &self.constant {
            out.extend_from_slice(text);
            return Ok(());
        }
        let value: Value = self.request.call(()).map_err(|error| self.state.locate(&error))?;
        out.extend_from_slice(&self.text(&value)?.as_bytes());
        Ok(())
    }

    fn delay(&mut self) -> std::result::Result<Option<Nanos>, ScriptError> {
        let Some(delay) = &self.delay else { return Ok(None) };
        let millis = delay.call::<Value>(()).and_then(|value| self.state.lua.coerce_number(value));
        let millis = millis.map_err(|error| self.state.locate(&error))?.unwrap_or(0.0) as u64;
        Ok(Some(Nanos(millis.saturating_mul(1_000_000))))
    }

    fn has_delay(&self) -> bool {
        self.delay.is_some()
    }

    fn wants_response(&self) -> bool {
        self.response.is_some()
    }

    fn response(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> std::result::Result<(), ScriptError> {
        let Some(response) = &self.response else { return Ok(()) };
        let lua = &self.state.lua;
        let called = (|| {
            let table = lua.create_table_with_capacity(0, headers.len())?;
            for (name, value) in headers {
                table.raw_set(name.as_str(), value.as_str())?;
            }
            response.call::<()>((status, table, lua.create_string(body)?))
        })();
        called.map_err(|error| self.state.locate(&error))
    }

    fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Relaxed)
    }

    fn address(&self) -> Option<SocketAddr> {
        self.shared.address()
    }

    fn constant(&self) -> Option<&[u8]> {
        self.constant.as_deref()
    }

    fn requests_in(&self, bytes: &[u8]) -> usize {
        framing::count(bytes).unwrap_or(0)
    }
}
