// What the api answers, as a test reads it: a name that is not there is undefined, and fails what the test states of it.
// biome-ignore lint/suspicious/noExplicitAny: tests read the wire by name, as clients without types do.
export type Row = Record<string, any>
