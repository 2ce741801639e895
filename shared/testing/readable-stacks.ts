// Vitest (4.1) maps the stack of every error of its main process to the sources. Of a module that another project of the run loaded before it
// holds bytes where it looks for a text, and throws: whoever reads the stack fails, and the error itself is never seen. Sockets read it
// whenever they are closed with an error.

/** Stacks that cannot be mapped are given as they are, from now on. */
export function keepStacksReadable(): void {
  const map = Error.prepareStackTrace
  if (!map) return
  Error.prepareStackTrace = (error, sites) => {
    try {
      return map(error, sites)
    } catch {
      return [String(error), ...sites].join('\n    at ')
    }
  }
}
