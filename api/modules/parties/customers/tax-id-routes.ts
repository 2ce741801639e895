// The calls on tax ids: which types there are in a country, and what is known of those of a customer that is not saved.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { Country, Optional, Shape } from '../../../resource/shapes.ts'
import { TaxIdTypeShape, TaxIdValidation } from '../tax-ids/schema.ts'
import { allowedTypes, validationsOf } from '../tax-ids/with-checks.ts'
import { checkedOrganization } from './check-organization.ts'
import { customerResource } from './resource.ts'
import type { Organization } from './schema.ts'

/** Registers them. */
export function taxIdRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    permission: 'CUSTOMER.VIEW',
    summary: 'List the types of tax ids that a company can have, in one country or in all.',
    tag: 'customers',
    method: 'GET',
    url: '/v1/tax-id-types',
    query: Shape({ country: Optional(Country) }),
    response: Type.Object({ allowed_types: Type.Array(TaxIdTypeShape) }, { title: 'TaxIdTypes' }),
    handle: (_uow, { query }) => Promise.resolve({ allowed_types: allowedTypes(query.country ?? null) }),
  })
  readRoute(app, deps, {
    permission: 'CUSTOMER.VIEW',
    summary: 'Check the tax ids of a customer, which is not saved.',
    tag: 'customers',
    method: 'POST',
    url: '/v1/customers/validate-tax-id',
    body: customerResource.createBody,
    response: Type.Object({ data: Type.Array(TaxIdValidation) }, { title: 'TaxIdValidations' }),
    handle: async (uow, { body }) => {
      const { organization } = body as { organization?: Organization | null }
      const checked = organization ? await checkedOrganization(organization, null, uow.now) : {}
      return { data: [checked, ...(checked.tax_registrations ?? [])].flatMap(validationsOf) }
    },
  })
}
