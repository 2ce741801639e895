// The query parameters of the ingest paths.
import { AppError } from '../../shared/errors.ts'

/** Accepts what the gateway does anyway, and refuses by name what it does not do. */
export function checkQuery(query: string): void {
  if (query === '') return
  const seen = new Set<string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (seen.has(name)) refuse(name, 'is given twice')
    seen.add(name)
    if (name === 'meter_validation') {
      if (value === 'DYNAMIC')
        refuse(name, '=DYNAMIC makes meters, which only the api does: send the events to its address, base_url')
      if (value !== 'STATIC') refuse(name, 'must be STATIC')
    } else if (name === 'cost_prediction') {
      if (value === 'true') refuse(name, '=true is not supported by this release')
      if (value !== 'false') refuse(name, 'must be true or false')
    } else {
      refuse(name, 'is not a parameter of this path')
    }
  }
}

function refuse(name: string, fault: string): never {
  throw new AppError('INVALID_FIELD', `${name}${fault.startsWith('=') ? '' : ' '}${fault}.`, {
    field: name.slice(0, 255),
  })
}
