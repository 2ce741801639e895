// How the columns of one file become events: where in a line each part stands. Made once a file, from its header.

/** Where a text comes from: a column, with what stands for an empty field, or the same text on every line. */
export type Cell = { readonly column: number; readonly empty: string | null } | { readonly constant: string }

/** How an event names one of its meter, values or properties. */
export type Named = { readonly id: string } | { readonly reference: string }

export type ValueSource = { readonly name: Named } & (
  | { readonly kind: 'number'; readonly number: Cell }
  | { readonly kind: 'amount'; readonly quantity: Cell; readonly currency: Cell }
)

/** How lines of one kind become events. */
export type LineMapping = {
  /** A meter, or the column with its reference. */
  readonly meter: Named | { readonly column: number }
  readonly reference: { readonly column: number; readonly prefix: number | null }
  readonly properties: readonly { readonly name: Named; readonly value: Cell }[]
  readonly values: readonly ValueSource[]
}

export type Plan = {
  /** As the header names them. */
  readonly columns: readonly string[]
  /** The column whose field chooses the mapping; null: every line has the same. */
  readonly chooser: number | null
  readonly byField: ReadonlyMap<string, LineMapping>
  /** Of lines whose field no mapping names. */
  readonly otherwise: LineMapping | null
  /** The column with the customer's reference; null when all lines are of the file's customer. */
  readonly customer: number | null
  readonly timestamp: number | null
}

/** What holds for every line of the file. */
export type FileFacts = {
  /** Customer of the lines that name none. */
  readonly customerId: string | null
  /** Time of every line, whatever its own column says. */
  readonly overrideTimestamp: string | null
  /** Time of lines that give none: when the processing started, so that a line says the same however often it is sent. */
  readonly fallbackTimestamp: string
  /** Whether usage of the customer with this id or reference is taken from the file. */
  readonly takesCustomer: (key: string) => boolean
}
