// Bodies of which one member says that they have another form, which takes fewer fields than their shape names.
import type { TSchema } from 'typebox'

type Form = {
  /** The member that a body of this form has. */
  readonly member: string
  /** Of a field that the form does not take: the rest of a sentence that begins with its name. */
  readonly says: string
}

const forms = new WeakMap<object, Form>()

/** Notes the other form of a body. Returns the body. */
export function withForm<T extends TSchema>(body: T, form: Form): T {
  forms.set(body, form)
  return body
}

/** The other form of the body, where this one has it. */
export function formOf(schema: unknown, data: unknown): Form | undefined {
  const form = typeof schema === 'object' && schema !== null ? forms.get(schema) : undefined
  return form && typeof data === 'object' && data !== null && form.member in data ? form : undefined
}
