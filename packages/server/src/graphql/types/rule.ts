import { badRequest } from '../../lib/errors.ts'
import { connectionSdl } from '../connections.ts'
import { globalId, uuidOf } from '../ids.ts'
import { type Input } from '../mutations.ts'
import { orgOfId, requireOrg, userIn } from '../fields.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const rulePart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('Rule')}
    extend type Mutation {
      ruleCreate(input: RuleCreateInput!): RuleCreatePayload
      ruleDelete(input: RuleDeleteInput!): RuleDeletePayload
    }
    type Rule implements Node {
      action: RuleAction!
      conditions: [String!]!
      createdAt: DateTime!
      createdBy: User
      effect: RuleEffect!
      id: ID!
      source: RuleSource
      sourceType: RuleSourceType!
      target: RuleTarget
      targetType: RuleTargetType!
      type: String!
      uuid: ID!
    }
    union RuleSource = Pipeline
    union RuleTarget = Pipeline
    enum RuleAction {
      ARTIFACTS_READ
      TRIGGER_BUILD
    }
    enum RuleEffect {
      ALLOW
    }
    enum RuleSourceType {
      PIPELINE
    }
    enum RuleTargetType {
      PIPELINE
    }
    input RuleCreateInput {
      clientMutationId: String
      organizationId: ID!
      "pipeline.trigger_build.pipeline or pipeline.artifacts_read.pipeline"
      type: String!
      "source_pipeline, target_pipeline, and conditions: an object, or its text."
      value: JSON!
    }
    type RuleCreatePayload {
      clientMutationId: String
      rule: Rule!
    }
    input RuleDeleteInput {
      clientMutationId: String
      id: ID!
      organizationId: ID!
    }
    type RuleDeletePayload {
      clientMutationId: String
      deletedRuleId: ID!
    }
  `,
  resolvers: {
    Mutation: {
      async ruleCreate(
        _: unknown,
        { input }: Input<{ organizationId: string; type: string; value: unknown }>,
        asked: Asked,
      ) {
        const org = await orgOfId(asked, input.organizationId)
        const { type, value } = input
        if (typeof value !== 'object' || value === null) throw badRequest('`value` must be a JSON object.')
        const row = await asked.rest.write('POST', '/v2/organizations/:org/rules', { org }, { type, value })
        return { clientMutationId: input.clientMutationId, rule: new Thing('Rule', org, row) }
      },
      async ruleDelete(_: unknown, { input }: Input<{ id: string; organizationId: string }>, asked: Asked) {
        const place = await asked.places.get('Rule', uuidOf('Rule', input.id))
        await requireOrg(asked, input.organizationId, place.org, 'rule')
        await asked.rest.write('DELETE', '/v2/organizations/:org/rules/:rule', place)
        return { clientMutationId: input.clientMutationId, deletedRuleId: input.id }
      },
    },
    Rule: {
      createdBy: userIn('created_by'),
      source: pipelineIn('source_uuid'),
      target: pipelineIn('target_uuid'),
    },
  },
}

/** A pipeline that REST names by its UUID. More of it is read where the caller may see it. */
function pipelineIn(column: string) {
  return async (rule: Thing, _: object, { rest, places }: Asked) => {
    const id = await rule.text(column)
    const known = { id, graphql_id: globalId('Pipeline', id) }
    return new Thing('Pipeline', rule.org, known, async () =>
      rest.get('/v2/organizations/:org/pipelines/:pipeline', await places.get('Pipeline', id)),
    )
  }
}
