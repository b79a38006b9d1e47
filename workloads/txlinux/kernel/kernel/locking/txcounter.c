// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counter workload. echo N > /proc/txcounter starts one thread a CPU; each
 * adds 1 to one shared word N times, each time under the same lock. Reading the
 * file gives the word and the nanoseconds. An odd thread takes the lock by the
 * plain function if the kernel was told txcounter=mixed: both exclude each other.
 */
#include <linux/txlock.h>
#include <linux/kthread.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/completion.h>
#include <linux/uaccess.h>
#include <linux/ktime.h>
#include <linux/mutex.h>

static struct {
	spinlock_t lock;
	unsigned long value;
} counter ____cacheline_aligned = { .lock = __SPIN_LOCK_UNLOCKED(counter.lock) };

static atomic_t waiting, running;
static DECLARE_COMPLETION(done);
static DEFINE_MUTEX(one_run);
static unsigned long last_ns;
static struct task_struct *task[NR_CPUS];
static bool mixed;

static int worker(void *arg)
{
	unsigned long n = (unsigned long)arg;
	bool plain = mixed && (raw_smp_processor_id() & 1);

	atomic_dec(&waiting);
	while (atomic_read(&waiting))
		cpu_relax();
	while (n--) {
		if (plain)
			spin_lock(&counter.lock);
		else
			spin_lock_tx(&counter.lock);
		counter.value++;
		spin_unlock(&counter.lock);
	}
	if (atomic_dec_and_test(&running))
		complete(&done);
	return 0;
}

static int show(struct seq_file *m, void *v)
{
	seq_printf(m, "value %lu ns %lu\n", counter.value, last_ns);
	return 0;
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, NULL);
}

/* All threads exist before the first one spins, since nothing preempts it. */
static int run(unsigned long n)
{
	u64 start;
	int cpu;

	counter.value = 0;
	atomic_set(&waiting, num_online_cpus());
	atomic_set(&running, num_online_cpus());
	reinit_completion(&done);
	for_each_online_cpu(cpu) {
		task[cpu] = kthread_create_on_cpu(worker, (void *)n, cpu, "counter/%u");
		if (IS_ERR(task[cpu])) {
			int failed = cpu;

			for_each_online_cpu(cpu)
				if (cpu < failed)
					kthread_stop(task[cpu]);
			return PTR_ERR(task[failed]);
		}
	}
	start = ktime_get_ns();
	for_each_online_cpu(cpu)
		wake_up_process(task[cpu]);
	wait_for_completion(&done);
	last_ns = ktime_get_ns() - start;
	return 0;
}

static ssize_t write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	unsigned long n;
	int status = kstrtoul_from_user(buf, len, 0, &n);

	if (status)
		return status;
	mutex_lock(&one_run);
	status = run(n);
	mutex_unlock(&one_run);
	return status ? status : len;
}

static const struct proc_ops ops = {
	.proc_open = open, .proc_read = seq_read, .proc_lseek = seq_lseek,
	.proc_release = single_release, .proc_write = write,
};

static int __init choose(char *what)
{
	mixed = !strcmp(what, "mixed");
	return 1;
}
__setup("txcounter=", choose);

static int __init counter_init(void)
{
	return proc_create("txcounter", 0600, NULL, &ops) ? 0 : -ENOMEM;
}
late_initcall(counter_init);
