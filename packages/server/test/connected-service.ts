// A service in the state that the web page for connecting it leaves.
import { newId } from '../src/lib/ids.ts'
import type { BuildStateName, ProviderId } from '../src/notifications/names.ts'
import { sealSecrets } from '../src/notifications/delivery/open-service.ts'
import { providers } from '../src/notifications/providers/table.ts'
import { splitSecrets } from '../src/resources/notifications/services/rules.ts'
import type { TestApp } from './app.ts'

export async function aConnectedService(
  app: TestApp,
  org: { id: string },
  provider: ProviderId,
  settings: Record<string, unknown>,
  states: readonly BuildStateName[] = [],
): Promise<string> {
  const { plain, secrets } = splitSecrets(providers[provider], settings)
  const id = newId()
  await app.db
    .insertInto('notification_services')
    .values({
      id,
      organization_id: org.id,
      provider,
      is_connected: true,
      build_states: [...states],
      settings: JSON.stringify(plain),
      ...sealSecrets(app.ctx.keys, secrets),
    })
    .execute()
  return id
}
