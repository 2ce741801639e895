// The path parameter that most calls share.
import Type from 'typebox'

export const IdParams = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 255 }) },
  { additionalProperties: false },
)
