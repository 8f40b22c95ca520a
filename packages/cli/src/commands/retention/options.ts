// Options that several commands about retention have.
import { InvalidArgumentError, type Command } from 'commander'
import type { OwnSettings } from '@millrace/server/main.ts'
import type { Output } from '../../command.ts'

const inherit = 'inherit'
type Inherit = typeof inherit

export interface Options extends Output {
  pipeline?: string
  buildDays?: number | Inherit
  logDays?: number | Inherit
  artifactDays?: number | Inherit
  archiveDays?: number | Inherit
  keepNewestBuilds?: number | Inherit
  archiveBuilds?: boolean | Inherit
}

export const withPipeline = (command: Command): Command =>
  command
    .argument('<org>', 'the organization')
    .option('--pipeline <slug>', 'one pipeline of it, which may have settings of its own')

export const withSettings = (command: Command): Command =>
  command
    .option('--build-days <days>', 'days after their end until builds are deleted; 0: no limit', readNumber)
    .option('--log-days <days>', 'the same for logs; 0: as long as the build or its archive', readNumber)
    .option('--artifact-days <days>', 'the same for files of artifacts; 0: as long as the build', readNumber)
    .option('--archive-days <days>', 'the same for archives of builds; 0: no limit', readNumber)
    .option('--keep-newest-builds <number>', 'so many builds of a pipeline stay, however old', readNumber)
    .option('--archive-builds <yes|no>', 'whether builds are archived before they are deleted', readFlag)

export const placeOf = (organization: string, { pipeline }: Options) => ({
  organization,
  pipeline: pipeline ?? null,
})

export const settingsOf = (options: Options): Partial<OwnSettings> => ({
  ...(options.buildDays === undefined ? {} : { build_days: ownValue(options.buildDays) }),
  ...(options.logDays === undefined ? {} : { log_days: ownValue(options.logDays) }),
  ...(options.artifactDays === undefined ? {} : { artifact_days: ownValue(options.artifactDays) }),
  ...(options.archiveDays === undefined ? {} : { archive_days: ownValue(options.archiveDays) }),
  ...(options.keepNewestBuilds === undefined
    ? {}
    : { keep_newest_builds: ownValue(options.keepNewestBuilds) }),
  ...(options.archiveBuilds === undefined ? {} : { archive_builds: ownValue(options.archiveBuilds) }),
})

const ownValue = <T>(value: T | Inherit): T | null => (value === inherit ? null : value)

function readNumber(text: string): number | Inherit {
  if (text === inherit) return inherit
  const number = Number(text)
  if (/^\d+$/.test(text) && number <= 1_000_000) return number
  throw new InvalidArgumentError('It is a whole number from 0, or "inherit".')
}

function readFlag(text: string): boolean | Inherit {
  if (text === inherit) return inherit
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw new InvalidArgumentError('It is yes, no or "inherit".')
}
