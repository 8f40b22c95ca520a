import type { TeamFields } from './queries.ts'
import type { UpdateTeamBody } from './schema.ts'

export const mostTeams = 250

export const teamFields = [
  'name',
  'slug',
  'description',
  'privacy',
  'is_default_team',
  'default_member_role',
  'members_can_create_pipelines',
  'members_can_create_suites',
  'members_can_create_registries',
  'members_can_destroy_registries',
  'members_can_destroy_packages',
] as const satisfies ReadonlyArray<keyof TeamFields>

/** The fields that only administrators may set: rights of the members, and whether new members join. */
export const grantingFields = [
  'is_default_team',
  'members_can_create_pipelines',
  'members_can_create_suites',
  'members_can_create_registries',
  'members_can_destroy_registries',
  'members_can_destroy_packages',
] as const satisfies ReadonlyArray<keyof TeamFields>

/** `Ops & Déploiement` to `ops-deploiement`. Letters of other scripts stay as they are. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')

/** The fields that a body sets, as columns. The slug follows from the name. */
export function readFields(body: UpdateTeamBody): Partial<TeamFields> {
  const given = {
    ...body,
    slug: body.name === undefined ? undefined : slugOf(body.name),
    description: body.description === null ? '' : body.description,
  }
  const set = teamFields.filter((key) => given[key] !== undefined).map((key) => [key, given[key]])
  return Object.fromEntries(set) as Partial<TeamFields>
}
