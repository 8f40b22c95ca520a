-- Jobs that wait with the same rules stand together, so that a claim looks at each different list of rules once. The key is a
-- hash, because the rules of a job may be longer than an entry of an index.
create function rules_key(rules text[]) returns bytea language sql immutable strict parallel safe
  as $$ select sha256(convert_to(to_jsonb(rules)::text, 'UTF8')) $$;
create index jobs_by_rules on jobs (queue_id, rules_key(agent_query_rules), untrusted, priority desc, scheduled_at, position, id)
  where state = 'scheduled';
-- jobs_dispatch serves what it served.
drop index jobs_runnable;
