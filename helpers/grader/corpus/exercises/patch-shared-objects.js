// Tries: to change objects that its process shares with the spec: agents, dispatchers, defaults.
// Must: give no point for it, and have the next test find them as they were.

import dns from 'node:dns';
import events from 'node:events';
import http from 'node:http';
import { Agent, getGlobalDispatcher } from 'undici';

for (const change of [
  () => (http.globalAgent.createConnection = () => {}),
  () => (http.Agent.prototype.addRequest = () => {}),
  () => (http.STATUS_CODES[404] = 'OK'),
  () => (http.METHODS.length = 0),
  () => (events.EventEmitter.prototype.emit = () => true),
  () => (events.defaultMaxListeners = -1),
  () => (Agent.prototype.dispatch = () => true),
  () => (Object.getPrototypeOf(getGlobalDispatcher()).dispatch = () => true),
  () => dns.setServers(['192.0.2.1']),
  () => Object.setPrototypeOf(http.IncomingMessage.prototype, null),
]) {
  try {
    change();
  } catch {}
}
