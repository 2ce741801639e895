// What a refused call answers.
import { expect } from 'vitest'

/** Matches the body of a refusal that names this field, with this code. */
export const refusal = (field: string, code = 'INVALID_FIELD'): unknown => expect.objectContaining({ code, field })
