// Wire shape of a quantity of credits.
import type { Static } from 'typebox'
import { DecimalText, IdText, Shape } from '../../../resource/shapes.ts'

export const Credits = Shape({ quantity: DecimalText, credit_type_id: IdText('credit type') }, { title: 'Credits' })
export type CreditsView = Static<typeof Credits>
