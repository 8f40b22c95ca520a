// Who may do what with a pipeline, and through which team.
import type { PipelineTeam } from './queries.ts'

type Level = PipelineTeam['access_level'] | 'admin'

interface Person {
  id: string
  name: string
  level: Level
  /** Names of the teams that give the level. */
  through: string[]
}

interface TeamOfPeople {
  name: string
  level: PipelineTeam['access_level']
  members: ReadonlyArray<{ user_id: string; user_name: string }>
}

const rank: Readonly<Record<Level, number>> = {
  read_only: 0,
  build_and_read: 1,
  manage_build_and_read: 2,
  admin: 3,
}

/** Each with the most that a team gives them. Administrators may do everything. By name. */
export function listPeople(
  administrators: ReadonlyArray<{ id: string; name: string }>,
  teams: readonly TeamOfPeople[],
): Person[] {
  const people = new Map<string, Person>(
    administrators.map(({ id, name }) => [id, { id, name, level: 'admin', through: [] }]),
  )
  for (const { name: team, level, members } of teams)
    for (const { user_id: id, user_name: name } of members) {
      const known = people.get(id)
      if (known === undefined || rank[known.level] < rank[level])
        people.set(id, { id, name, level, through: [team] })
      else if (known.level === level) known.through.push(team)
    }
  return [...people.values()].toSorted((a, b) => a.name.localeCompare(b.name))
}
