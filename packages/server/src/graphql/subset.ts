// The whole schema, of one part a type.
import { buildSchema, isObjectType, type GraphQLSchema } from 'graphql'
import { agentPart } from './agent.ts'
import { buildPart } from './build.ts'
import { clusterQueuePart } from './cluster-queue.ts'
import { clusterTokenPart } from './cluster-token.ts'
import { clusterPart } from './cluster.ts'
import { connectionPart } from './connections.ts'
import { invitationPart } from './invitation.ts'
import { jobPart } from './job.ts'
import { nodePart } from './node.ts'
import { organizationMemberPart } from './organization-member.ts'
import { organizationPart } from './organization.ts'
import { pipelineSchedulePart } from './pipeline-schedule.ts'
import { pipelineTemplatePart } from './pipeline-template.ts'
import { pipelinePart } from './pipeline.ts'
import { repositoryPart } from './repository.ts'
import { rulePart } from './rule.ts'
import { parseJson, scalarPart } from './scalars.ts'
import { teamMemberPart } from './team-member.ts'
import { teamPipelinePart } from './team-pipeline.ts'
import { teamSuitePart } from './team-suite.ts'
import { teamPart } from './team.ts'
import type { Part } from './thing.ts'
import { userPart } from './user.ts'

const parts: readonly Part[] = [
  scalarPart,
  connectionPart,
  nodePart,
  organizationPart,
  organizationMemberPart,
  invitationPart,
  userPart,
  pipelinePart,
  repositoryPart,
  pipelineSchedulePart,
  pipelineTemplatePart,
  buildPart,
  jobPart,
  agentPart,
  clusterPart,
  clusterQueuePart,
  clusterTokenPart,
  teamPart,
  teamMemberPart,
  teamPipelinePart,
  teamSuitePart,
  rulePart,
]

/** Builds the schema. A resolver of a field that no type has is a bug. */
export function buildSubset(): GraphQLSchema {
  const sdl = ['type Query', 'type Mutation', ...parts.map((part) => part.sdl)].join('\n')
  const schema = buildSchema(sdl)
  for (const [type, resolvers] of parts.flatMap((part) => Object.entries(part.resolvers ?? {}))) {
    const fields = fieldsOf(schema, type)
    for (const [name, resolve] of Object.entries(resolvers)) {
      const field = fields[name]
      if (field === undefined) throw new Error(`${type} has no field ${name}.`)
      field.resolve = resolve
    }
  }
  parseJson(schema)
  return schema
}

function fieldsOf(schema: GraphQLSchema, name: string) {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`There is no type ${name}.`)
  return type.getFields()
}
