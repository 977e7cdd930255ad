import { compareTasks } from '@pawl/core/plan/plan';
import { readyTasks } from '@pawl/core/plan/plan-reading';
import { stagePlan } from '@pawl/core/plan/stage';
import { contentHash, planFacts, requiredPlan } from '@pawl/daemon/tasks/plan-facts';
import { newId } from '@pawl/schema/id';
import { insertInitiative, insertPlanVersion } from '@pawl/store/plan/initiatives';
import { planContent, putPhase } from '@pawl/store/plan/plan-records';
import { insertProject } from '@pawl/store/projects/projects';
import { insertTask } from '@pawl/store/projects/tasks';
import type { Store } from '@pawl/store/store';
import { anInitiative, aPhase, aTask } from '@pawl/testing/plan-records';
import { openStoreAt, projectRecord } from '../fabricate.ts';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';
import type { Row } from '../report.ts';
import { alternate, median, timed } from '../statistics.ts';

/** Tasks of a phase; each waits for the one before it. */
const perPhase = 20;

/** Staging, showing and dispatching plans: four times the tasks may take four times as long. */
export const planner: Measure = {
  name: 'planner',
  async run({ quick, progress }) {
    const [small, large] = [1_000, 4_000] as const;
    await using place = await makePlace();
    const store = await openStoreAt(place.home.root);
    progress('adding plans');
    const plans = { small: await addPlan(store, small), large: await addPlan(store, large) };
    const rounds = quick ? 5 : 15;
    const both = async (work: (id: string) => Promise<number>) =>
      alternate(rounds, { small: () => work(plans.small), large: () => work(plans.large) });
    const stage = await both(async (id) => {
      const content = await planContent(store.db, id);
      return timed(() => stagePlan(content, new Map()));
    });
    const dispatch = await both((id) =>
      timed(async () => readyTasks(await planFacts(store.db, await requiredPlan(store.db, id)), compareTasks)),
    );
    await store.close();
    await place.startDaemon();
    progress('showing plans');
    const show = await both((id) => timed(() => place.client.showPlan(id)));
    const rows = { stage, 'one dispatch step': dispatch, show };
    return Object.entries(rows).flatMap(([name, times]): Row[] => [
      { measure: `plan ${name}, ${small} tasks in ${small / perPhase} phases`, value: median(times.small), unit: 'ms' },
      {
        measure: `plan ${name}, ${large} tasks`,
        value: median(times.large),
        unit: 'ms',
        floor: (large / small) * median(times.small),
        aims: [{ of: 'ratio', atMost: 1.5 }],
        note: 'floor: four times 1,000 tasks',
      },
    ]);
  },
};

/** A launched, paused plan: nothing of it starts while the measure runs. */
async function addPlan(store: Store, count: number): Promise<string> {
  const project = { ...projectRecord(), name: `plan-${count}`, root: `/nowhere/plan-${count}` };
  const initiative = anInitiative({ id: newId(), projectId: project.id, pausedAt: 4 });
  await store.write(async (tx) => {
    await insertProject(tx, project);
    await insertInitiative(tx, initiative);
    let before: string | null = null;
    for (let phase = 0; phase < count / perPhase; phase += 1) {
      const phaseId = newId();
      const own = { initiativeId: initiative.id, id: phaseId, dependsOn: before === null ? [] : [before] };
      await putPhase(tx, aPhase(`phase ${phase}`, own));
      before = phaseId;
      let last: string | null = null;
      for (let number = 0; number < perPhase; number += 1) {
        const id = newId();
        const place = { id, projectId: project.id, initiativeId: initiative.id, phaseId };
        const files = [`src/${phase}/${number}.ts`];
        await insertTask(tx, aTask(`task ${number}`, { ...place, files, dependsOn: last === null ? [] : [last] }));
        last = id;
      }
    }
    const content = await planContent(tx.db, initiative.id);
    await insertPlanVersion(tx, {
      initiativeId: initiative.id,
      number: 1,
      hash: contentHash(content),
      taskIds: content.tasks.map(({ id }) => id),
      createdAt: 1,
      createdBy: 'person',
    });
  });
  return initiative.id;
}
