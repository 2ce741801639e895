// Bodies that have a second form, such as `init` from a template. One member shows that a body has it, and it takes fewer fields.
import type { TSchema } from 'typebox'

type Form = {
  /** The member that a body of this form has. */
  readonly member: string
  /** Of a field that the form does not take: the rest of a sentence that begins with its name. */
  readonly says: string
}

const forms = new WeakMap<object, Form>()

/** Keeps the second form of a body with its schema, which it returns. */
export function withForm<T extends TSchema>(body: T, form: Form): T {
  forms.set(body, form)
  return body
}

/** The second form of the body; undefined for data that does not have it. */
export function formOf(schema: unknown, data: unknown): Form | undefined {
  const form = typeof schema === 'object' && schema !== null ? forms.get(schema) : undefined
  return form && typeof data === 'object' && data !== null && form.member in data ? form : undefined
}
