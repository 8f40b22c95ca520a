import { badRequest } from '../../lib/errors.ts'
import { urlOf } from '../addresses.ts'
import { embedded } from '../fields.ts'
import { globalId } from '../ids.ts'
import { byIdInOrganization, givenId, written } from '../mutations.ts'
import { Node } from '../node.ts'
import type { Field, Part } from '../table.ts'

export const rulePart: Part = {
  nodes: {
    Rule: {
      action: 'RuleAction!',
      conditions: '[String!]!',
      createdAt: 'DateTime!',
      createdBy: embedded('User', 'created_by'),
      effect: 'RuleEffect!',
      source: pipelineById('RuleSource', 'source_uuid'),
      sourceType: 'RuleSourceType!',
      target: pipelineById('RuleTarget', 'target_uuid'),
      targetType: 'RuleTargetType!',
      type: 'String!',
      uuid: 'ID!',
    },
  },
  unions: { RuleSource: ['Pipeline'], RuleTarget: ['Pipeline'] },
  enums: {
    RuleAction: 'ARTIFACTS_READ TRIGGER_BUILD',
    RuleEffect: 'ALLOW',
    RuleSourceType: 'PIPELINE',
    RuleTargetType: 'PIPELINE',
  },
  mutations: {
    ruleCreate: {
      route: 'POST /rules',
      at: { organizationId: 'Organization' },
      input: {
        type: {
          type: 'String!',
          description: 'pipeline.trigger_build.pipeline or pipeline.artifacts_read.pipeline',
        },
        value: {
          type: 'JSON!',
          description: 'source_pipeline, target_pipeline, and conditions: an object, or its text.',
          toBody(value) {
            if (typeof value !== 'object') throw badRequest('`value` must be a JSON object.')
            return value
          },
        },
      },
      payload: { rule: written('Rule!') },
    },
    ruleDelete: { route: 'DELETE', at: byIdInOrganization('Rule'), payload: { deletedRuleId: givenId } },
  },
}

/** A pipeline that REST names by its UUID. More of it is read where the caller may see it. */
function pipelineById(type: string, column: string): Field {
  return {
    type,
    async resolve(rule, _, { rest, addresses }) {
      const id = await rule.text(column)
      const known = { id, graphql_id: globalId('Pipeline', id) }
      return new Node('Pipeline', rule.address, known, async () =>
        rest.get(urlOf('Pipeline'), await addresses.get('Pipeline', id)),
      )
    },
  }
}
