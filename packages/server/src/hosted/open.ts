import type { HostedSettings } from '../hosted-settings.ts'
import type { Db } from '../db/pool.ts'
import type { Runner } from './docker/runner-volume.ts'
import type { HostedDriver } from './driver.ts'
import { getInstallationId } from './installation.ts'

/** Loads a driver only where it is wanted: most installations have none. The engine is not asked yet. */
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
