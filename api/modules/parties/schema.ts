// What customers, their contacts and billing entities have in common on the wire.
import Type from 'typebox'
import { AppError } from '../../../shared/errors.ts'
import { Nullable, Optional, Shape } from '../../resource/shapes.ts'

const Part = Optional(Nullable(Type.String({ maxLength: 255 })))

export const PersonName = Shape({ first_name: Part, last_name: Part, infix: Part })

export const Email = Type.String({ maxLength: 320 })

/** Throws INVALID_FIELD for a text that is not one e-mail address. */
export function checkEmail(email: string | null): void {
  if (email === null || /^[^\s@]+@[^\s@]+$/.test(email)) return
  throw new AppError('INVALID_FIELD', 'email must be one address, such as billing@example.com.', { field: 'email' })
}
