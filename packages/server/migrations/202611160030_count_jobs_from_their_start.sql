-- Jobs count as being on an agent from their start on, and no longer when they are accepted. A group counts the steps of
-- it that run; those that did so for accepted jobs alone do not run yet.
create temporary table accepted on commit drop as
  select j.build_id, j.step_id, count(*)::int as jobs
  from jobs j where j.state = 'accepted' and j.retried_in_job_id is null group by j.build_id, j.step_id;

update build_tallies t set on_agent = t.on_agent - a.jobs
from (select build_id, sum(jobs)::int as jobs from accepted group by build_id) a
where t.build_id = a.build_id;

update build_steps s set on_agent = s.on_agent - a.jobs from accepted a where s.id = a.step_id;

update build_steps g set on_agent = g.on_agent - a.steps
from (
  select s.group_id, count(*)::int as steps from accepted a join build_steps s on s.id = a.step_id
  where s.group_id is not null and s.on_agent = 0 and s.open = s.total - s.broken and s.hard_failed = 0 and s.promised = 0
  group by s.group_id
) a
where g.id = a.group_id;
