// The currencies that a platform can price and bill in.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type CurrencyFacts, currencyList } from '../../../../shared/codes/currency-list.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { getOne } from '../../../resource/store.ts'
import { platformResource } from './platform.ts'

const CurrencyShape = Type.Object(
  {
    code: Type.String(),
    currencyCode: Type.String(),
    numeric: Type.Integer(),
    currencyId: Type.Integer(),
    exponent: Type.Integer(),
    sign: Type.String(),
    name: Type.String(),
    currencyName: Type.String(),
    countryCodes: Type.Array(Type.String()),
    countries: Type.Array(Type.String()),
  },
  { title: 'Currency' },
)

const viewOf = ({ code, numeric, exponent, sign, name, countries }: CurrencyFacts) => ({
  code,
  currencyCode: code,
  numeric,
  currencyId: numeric,
  exponent,
  sign,
  name,
  currencyName: name,
  countryCodes: countries.map(country => country.code),
  countries: countries.map(country => country.name),
})

/** Registers GET /v1/platforms/{id}/currencies. The id of another platform is 404, as for the platform itself. */
export function currencyRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    permission: 'PLATFORM.VIEW',
    summary: 'List the currencies that a platform can price and bill in.',
    tag: 'platforms',
    method: 'GET',
    url: '/v1/platforms/:id/currencies',
    params: IdParams,
    response: Type.Array(CurrencyShape),
    handle: async (uow, { params }) => {
      await getOne(uow, platformResource, params.id)
      return currencyList().map(viewOf)
    },
  })
}
