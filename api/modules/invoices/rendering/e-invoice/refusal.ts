// An invoice that EN 16931 cannot express is refused: a receiver would reject the file.
import { AppError } from '../../../../../shared/errors.ts'

/** The refusal of an e-invoice, with the field that prevents it. */
export const notExpressible = (field: string, message: string): AppError =>
  new AppError('INVALID_OPERATION', `This invoice cannot be an e-invoice: ${message}`, {
    field,
    resourceType: 'INVOICE',
  })
