import { expect, it, onTestFinished } from 'vitest'
import { eventually, useApp } from '../../test/app.ts'
import { anAdmin, anOrganization } from '../../test/builders.ts'
import { listen } from '../db/listener.ts'
import { workChannel } from '../tasks/pauses.ts'

const app = useApp()

it('a request that writes notifies the workers of all processes', async () => {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  let notified = 0
  const listener = await listen(app.database.direct, {
    channels: { [workChannel]: () => notified++ },
    onConnected() {},
    onError() {},
  })
  onTestFinished(listener.stop)
  await eventually('a notification', async () => {
    const { status } = await app.request('POST', `${org.path}/clusters`, {
      token: admin.token,
      body: { name: `Cluster ${Math.random()}` },
    })
    expect(status).toBe(201)
    return notified > 0
  })
})
