// The query parameters of the ingest paths, at the gateway and at the api.
import { AppError } from '../errors.ts'

export type IngestQuery = { readonly isDynamic: boolean }

const STATIC: IngestQuery = { isDynamic: false }

/**
 * Reads a query, without its question mark. Takes what is done anyway, and refuses by name what is not. `mayBeDynamic`: whether
 * meter_validation=DYNAMIC is taken here, which makes meters and is the api's alone. Throws INVALID_FIELD.
 */
export function readIngestQuery(query: string, mayBeDynamic: boolean): IngestQuery {
  if (query === '') return STATIC
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (given.has(name)) refuse(name, 'is given twice')
    given.set(name, value)
    if (name === 'meter_validation') checkValidation(value, mayBeDynamic)
    else if (name === 'cost_prediction') checkPrediction(value)
    else refuse(name, 'is not a parameter of this path')
  }
  return given.get('meter_validation') === 'DYNAMIC' ? { isDynamic: true } : STATIC
}

function checkValidation(value: string, mayBeDynamic: boolean): void {
  if (value === 'STATIC' || (value === 'DYNAMIC' && mayBeDynamic)) return
  const name = 'meter_validation'
  if (mayBeDynamic) refuse(name, 'must be STATIC or DYNAMIC')
  if (value === 'DYNAMIC')
    refuse(name, '=DYNAMIC makes meters, which only the api does: send the events to its address, base_url')
  refuse(name, 'must be STATIC here; base_url takes DYNAMIC as well')
}

function checkPrediction(value: string): void {
  if (value === 'true') refuse('cost_prediction', '=true is not supported by this release')
  if (value !== 'false') refuse('cost_prediction', 'must be true or false')
}

function refuse(name: string, fault: string): never {
  throw new AppError('INVALID_FIELD', `${name}${fault.startsWith('=') ? '' : ' '}${fault}.`, {
    field: name.slice(0, 255),
  })
}
