// The pages of a pipeline's settings, in their order. The settings list them, and the breadcrumb names them.
import type { Schemas } from '../api/operations.ts'
import type { Rights } from './settings-pages.ts'

export interface PipelineRights {
  /** May create, cancel and unblock builds. */
  build: boolean
  /** May change and delete the pipeline. */
  edit: boolean
  organization: Rights
}

interface SettingsPage {
  /** The last word of the address. */
  name: string
  title: string
  isOpenTo: (may: PipelineRights) => boolean
  /** The server refuses these changes while the pipeline is archived. */
  isClosedInArchive?: true
}

const everybody = () => true
const editors = (may: PipelineRights) => may.edit

const pipelineSettingsPages = [
  { name: 'general', title: 'General', isOpenTo: editors, isClosedInArchive: true },
  { name: 'steps', title: 'Steps', isOpenTo: editors, isClosedInArchive: true },
  { name: 'repository', title: 'Repository', isOpenTo: editors, isClosedInArchive: true },
  { name: 'builds', title: 'Builds', isOpenTo: editors, isClosedInArchive: true },
  { name: 'schedules', title: 'Schedules', isOpenTo: everybody },
  { name: 'triggers', title: 'Triggers', isOpenTo: everybody },
  { name: 'access', title: 'Access', isOpenTo: (may: PipelineRights) => may.organization.view_teams },
  {
    name: 'notifications',
    title: 'Notifications',
    isOpenTo: (may: PipelineRights) => may.organization.manage_services,
  },
  { name: 'badges', title: 'Badges', isOpenTo: everybody },
  { name: 'retention', title: 'Retention', isOpenTo: editors },
  { name: 'caches', title: 'Caches', isOpenTo: everybody },
  { name: 'danger', title: 'Archive or delete', isOpenTo: editors },
] as const satisfies readonly SettingsPage[]

export type PipelineSettingsName = (typeof pipelineSettingsPages)[number]['name']

export const findPipelineSettings = (name: string): SettingsPage | undefined =>
  pipelineSettingsPages.find((each) => each.name === name)

export const pipelineSettingsPath = (org: string, pipeline: string, name: string) =>
  `/${org}/${pipeline}/settings/${name}`

export const openPipelineSettings = (may: PipelineRights) =>
  pipelineSettingsPages.filter(({ isOpenTo }) => isOpenTo(may))

/** null: not known yet. */
export const rightsOf = (
  pipeline: Pick<Schemas['Pipeline'], 'viewer'> | undefined,
  organization: Rights | undefined,
): PipelineRights | null =>
  pipeline?.viewer === undefined || organization === undefined
    ? null
    : { ...pipeline.viewer.may, organization }
