// The query parameters of the ingest paths, at the gateway and at the api.
import { AppError } from '../errors.ts'

export type IngestQuery = { readonly isDynamic: boolean; readonly isPredicted: boolean }

const STATIC: IngestQuery = { isDynamic: false, isPredicted: false }

/**
 * Reads a query, without its question mark. Takes what is done anyway, and refuses by name what is not. `isApi`: whether it is read
 * by the api, which alone makes meters (meter_validation=DYNAMIC) and prices events (cost_prediction=true). Throws INVALID_FIELD.
 */
export function readIngestQuery(query: string, isApi: boolean): IngestQuery {
  if (query === '') return STATIC
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (given.has(name)) refuse(name, 'is given twice')
    given.set(name, value)
    if (name === 'meter_validation') checkValidation(value, isApi)
    else if (name === 'cost_prediction') checkPrediction(value, isApi)
    else refuse(name, 'is not a parameter of this path')
  }
  return {
    isDynamic: given.get('meter_validation') === 'DYNAMIC',
    isPredicted: given.get('cost_prediction') === 'true',
  }
}

function checkValidation(value: string, mayBeDynamic: boolean): void {
  if (value === 'STATIC' || (value === 'DYNAMIC' && mayBeDynamic)) return
  const name = 'meter_validation'
  if (mayBeDynamic) refuse(name, 'must be STATIC or DYNAMIC')
  if (value === 'DYNAMIC')
    refuse(name, '=DYNAMIC makes meters, which only the api does: send the events to its address, base_url')
  refuse(name, 'must be STATIC here; base_url takes DYNAMIC as well')
}

function checkPrediction(value: string, isApi: boolean): void {
  if (value === 'false' || (value === 'true' && isApi)) return
  const name = 'cost_prediction'
  if (value === 'true') refuse(name, '=true prices events, which only the api does: send them to its address, base_url')
  refuse(name, 'must be true or false')
}

function refuse(name: string, fault: string): never {
  throw new AppError('INVALID_FIELD', `${name}${fault.startsWith('=') ? '' : ' '}${fault}.`, {
    field: name.slice(0, 255),
  })
}
