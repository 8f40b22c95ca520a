import type { HostedSettings } from '../config/hosted.ts'
import type { Db } from '../db/pool.ts'
import { newId } from '../lib/ids.ts'
import type { HostedDriver, Runner } from './driver.ts'

/** Imports the driver on demand, since most installations have none. Sends no request to the engine. */
export async function openHosted(
  db: Db,
  { engine, registry, baseImage, imageBuildMinutes, allowed }: HostedSettings,
  runner: Runner | null,
  warn: (error: unknown, message: string) => void,
): Promise<HostedDriver> {
  const installationId = await getInstallationId(db)
  if (engine.kind === 'kubernetes') {
    const { openKubernetes } = await import('./kubernetes/driver.ts')
    const buildSeconds = (imageBuildMinutes + 5) * 60
    return openKubernetes({ ...engine, installationId, registry, baseImage, buildSeconds, runner, warn })
  }
  const { openDocker } = await import('./docker/driver.ts')
  return openDocker({ ...engine, installationId, registry, helperImage: baseImage, allowed, runner })
}

/** Labels the installation's own objects in an engine that others share. Created at first use. */
async function getInstallationId(db: Db): Promise<string> {
  await db
    .insertInto('installation')
    .values({ id: newId() })
    .onConflict((taken) => taken.doNothing())
    .execute()
  const { id } = await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()
  return id
}
