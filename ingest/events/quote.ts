// Writing JSON strings.

export type Quote = (text: string) => string

/** For text of a body whose scan said plain: nothing in it needs an escape. */
const quotePlain: Quote = text => `"${text}"`

/** The cheapest right way to quote the texts of a body. */
export const quoteOf = (scan: { readonly plain: boolean }): Quote => (scan.plain ? quotePlain : JSON.stringify)
