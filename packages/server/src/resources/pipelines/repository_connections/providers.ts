import type { Trx } from '../../../db/pool.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { providerOf } from '../../../source-hosts/settings.ts'
import * as connections from './queries.ts'

/** After connections of the host name have changed: sets the provider of each pipeline by its own connection. */
export async function renewProviders(trx: Trx, orgId: string, host: string): Promise<void> {
  const all = await connections.listByHost(trx, orgId, host)
  const providers = Object.fromEntries(all.map(({ id, type }) => [id, hostOfType(type).providerOf(host)]))
  await connections.updateProviders(trx, orgId, host, {
    providers,
    otherwise: providerOf(`https://${host}/`),
  })
}
