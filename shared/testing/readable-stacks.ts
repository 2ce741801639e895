// In its main process vitest (4.1) maps the stack of every error to the sources. It fails on a module that another project of the run has
// loaded before: it keeps such a module as bytes, and expects a string. Reading the stack then throws a TypeError, which hides the error
// itself. Node reads the stack of every error that closes a socket.

/** From now on, a stack that cannot be mapped is shown unmapped. */
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
