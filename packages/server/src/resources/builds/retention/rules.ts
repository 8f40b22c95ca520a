import type { RetentionDefaults } from '../../../config/retention.ts'

export type Settings = RetentionDefaults
export type SettingName = keyof Settings

/** What an organization or a pipeline has set itself. null: not set. */
export type OwnSettings = { [Name in SettingName]: Settings[Name] | null }

export const settingNames = [
  'build_days',
  'log_days',
  'artifact_days',
  'archive_days',
  'keep_newest_builds',
  'archive_builds',
] as const satisfies readonly SettingName[]

/** `own` from the nearest to the farthest: the pipeline's, then the organization's. */
export function effectiveSettings(own: readonly OwnSettings[], defaults: Settings): Settings {
  const pick = <Name extends SettingName>(name: Name): Settings[Name] => {
    for (const settings of own) {
      const value = settings[name]
      if (value !== null) return value
    }
    return defaults[name]
  }
  return {
    build_days: pick('build_days'),
    log_days: pick('log_days'),
    artifact_days: pick('artifact_days'),
    archive_days: pick('archive_days'),
    keep_newest_builds: pick('keep_newest_builds'),
    archive_builds: pick('archive_builds'),
  }
}

/** The settings that a body names. */
export const readSettings = (body: Partial<OwnSettings>): Partial<OwnSettings> =>
  Object.fromEntries(settingNames.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
