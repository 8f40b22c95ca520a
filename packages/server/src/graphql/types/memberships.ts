// Memberships of users and pipelines in teams. They have no UUID of their own in REST: the id holds that of the team and that
// of the user or pipeline, and `uuid` is made of both.
import { v5 } from 'uuid'
import { globalId } from '../ids.ts'
import { idInUrl } from '../fields.ts'
import { textOf, type Row } from '../rest.ts'
import { Thing } from '../node.ts'

export function toTeamMember(org: string, team: string, row: Row): Thing {
  const user = textOf(row['user_id'])
  return new Thing('TeamMember', org, { ...row, ...idsOf('TeamMember', team, user), team_id: team })
}

export function toTeamPipeline(org: string, team: string, row: Row): Thing {
  const pipeline = textOf(row['pipeline_id'])
  const slug = row['pipeline_slug'] ?? idInUrl(row['pipeline_url'], 'pipelines')
  return new Thing('TeamPipeline', org, {
    ...row,
    ...idsOf('TeamPipeline', team, pipeline),
    team_id: team,
    pipeline_slug: slug,
  })
}

const idsOf = (type: string, team: string, second: string) => ({
  graphql_id: globalId(type, team, second),
  uuid: v5(`${type} ${second}`, team),
})
