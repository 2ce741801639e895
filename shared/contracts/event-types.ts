// Which events there are: a closed list, declared by the module that emits them. A change of an unknown type neither compiles nor
// passes the outbox.

/** What a module declares: the actions of each object type. */
export type EventDeclarations = Readonly<Record<string, readonly string[]>>

/**
 * The declarations of every module, which each adds beside its `defineEvents`:
 * `declare module '…/event-types.ts' { interface DeclaredEvents { readonly invoices: typeof INVOICE_EVENTS } }`
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by declaration merging
export interface DeclaredEvents {}

type TypesOf<D> = {
  [O in keyof D & string]: D[O] extends readonly (infer A extends string)[] ? `${O}.${A}` : never
}[keyof D & string]

/** `<OBJECT_TYPE>.<ACTION>`, uppercase (contract: Events). */
export type EventType = { [M in keyof DeclaredEvents]: TypesOf<DeclaredEvents[M]> }[keyof DeclaredEvents]

/** What every plain resource emits. */
export const CHANGES = ['CREATED', 'UPDATED', 'DELETED'] as const

const declared = new Set<string>()

/** Declares the events of a module. */
export function defineEvents<const D extends EventDeclarations>(declarations: D): D {
  for (const type of eventTypesOf(declarations)) declared.add(type)
  return declarations
}

/** The types that are declared, in the order of their declaration. */
export const eventTypesOf = (declarations: EventDeclarations): EventType[] =>
  Object.entries(declarations).flatMap(([objectType, actions]) =>
    // What a module declares is in the union, by the declarations above.
    actions.map(action => `${objectType}.${action}` as EventType),
  )

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

/** The object types that something happens to. */
export const objectTypesOf = (types: readonly EventType[]): string[] =>
  unique(types.map(type => type.slice(0, type.indexOf('.'))))

/** What happens to them. */
export const actionsOf = (types: readonly EventType[]): string[] =>
  unique(types.map(type => type.slice(type.indexOf('.') + 1)))

/** Whether this process knows `type`: the module that declares it has been loaded. */
export const isDeclaredEvent = (type: string): type is EventType => declared.has(type)
