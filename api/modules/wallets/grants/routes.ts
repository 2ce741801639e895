// The routes that create and revert grants; reading them works as for any resource (wallet-grant.ts).
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { idOf } from '../../../../shared/ids.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { viewOf } from '../../../resource/views.ts'
import { walletGrantResource } from '../wallet-grant.ts'
import { createGrant, GrantBody } from './create-grant.ts'
import { revertGrant } from './revert-grant.ts'

export function grantRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const about = { tag: walletGrantResource.path, response: walletGrantResource.view }
  writeRoute(app, deps, {
    ...about,
    permission: 'WALLET_GRANT.CREATE',
    summary: 'Grant money or credits to a wallet.',
    method: 'POST',
    url: `/v1/${walletGrantResource.path}`,
    body: GrantBody,
    status: 201,
    handle: async (uow, { body }) => {
      const given = normalizeTimes(GrantBody, body) as Static<typeof GrantBody>
      return await viewOf(uow, walletGrantResource, await createGrant(uow, given))
    },
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'WALLET_GRANT.UPDATE',
    summary: 'Revert a grant: its open part can no longer be spent. A repeat changes nothing.',
    method: 'POST',
    url: `/v1/${walletGrantResource.path}/:id/revert`,
    params: IdParams,
    status: 200,
    handle: async (uow, { params }) => {
      const cause = { type: 'REQUEST', id: uow.actor.requestId } as const
      const row = await revertGrant(uow, idOf('wgra', params.id), { reason: 'WALLET_GRANT_REVERTED', cause })
      return await viewOf(uow, walletGrantResource, row)
    },
  })
}
