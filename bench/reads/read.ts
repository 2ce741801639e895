export type Read = {
  readonly name: string
  readonly path: string
  /** Of the bare route. */
  readonly bare?: true
  readonly body?: unknown
  readonly times?: number
  /** Also measured with several on their way at once. */
  readonly busy?: true
}
