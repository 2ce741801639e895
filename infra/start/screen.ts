// What a person sees: short lines with the seconds since the start.

/** Prints `line` with the seconds since the process started; continued lines are indented. */
export function say(line: string): void {
  const seconds = (performance.now() / 1000).toFixed(1).padStart(6)
  console.log(`[${seconds}s] ${line.replaceAll('\n', `\n${' '.repeat(10)}`)}`)
}
