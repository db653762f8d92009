const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Calls `stop` at the first SIGTERM or SIGINT of this process. Later signals are ignored: a terminal and service
 * managers signal the whole process group, and npm also forwards its own signal.
 */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  let isStopping = false;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      stop(signal);
    });
  }
}
