export type Read = {
  readonly name: string
  readonly path: string
  /** Of the bare route. */
  readonly bare?: true
  readonly body?: unknown
  readonly times?: number
}
