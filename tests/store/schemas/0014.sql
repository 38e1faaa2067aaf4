BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('705341e431','daemon','login3','submit','c43dd18afb3a82e9e987fc8a42bd151100223a9bbc60bc4242102ea2198502e0',1.79549392974370026587e+09,'root',1.79808592974370026586e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0014');
CREATE TABLE archives (
	name TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	began FLOAT NOT NULL, 
	latest FLOAT NOT NULL, 
	jobs INTEGER NOT NULL, 
	first_job INTEGER, 
	last_job INTEGER, 
	lines_size INTEGER NOT NULL, 
	swf_size INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79549392850348424905e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79549392850394749646e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, term BIGINT DEFAULT '0' NOT NULL, planned FLOAT, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.79549392876331925395e+09,'vm',1.79549392877545046804e+09,1.79549392877545046804e+09,0,NULL,'',100000000004192661,NULL);
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79549392889165806766e+09,'vm',1.79549392890174841878e+09,1.79549392890174841878e+09,3,'exit','',100000000001147525,NULL);
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.7954939290211343765e+09,'vm',1.79549392910795664783e+09,1.79549392910898423193e+09,0,NULL,'',100000000008752552,NULL);
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79549392902278375622e+09,'vm',1.79549392910898423193e+09,1.79549392910898423193e+09,0,NULL,'',100000000008752552,NULL);
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.7954939294714314938e+09,'vm',1.79549392947928524019e+09,1.79549392947928524019e+09,0,NULL,'',100000000004232757,NULL);
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79549392983945870394e+09,'vm',1.79549392984668159485e+09,NULL,NULL,NULL,'RUNNING',100000000006831546,NULL);
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79549392999907326696e+09,'vm',1.79549393011224603646e+09,NULL,NULL,NULL,'RUNNING',100000000006712134,NULL);
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79549392999624872211e+09,'vm',1.79549393010866808889e+09,NULL,NULL,NULL,'RUNNING',100000000006712134,NULL);
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79549393033447074888e+09,'vm',1.79549393034298086163e+09,NULL,NULL,NULL,'RUNNING',100000000006972505,NULL);
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.79549393049953293806e+09,'vm',1.79549393052971839905e+09,NULL,NULL,NULL,'',100000000004258979,NULL);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79549392875116729743e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79549392875116729743e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79549392875116729743e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.7954939287645745277e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79549392879222607607e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79549392879222607607e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79549392879222607607e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79549392888532137867e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79549392888532137867e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79549392888532137867e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79549392889280319215e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79549392892116427417e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79549392892116427417e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79549392892116427417e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79549392901052474978e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79549392901052474978e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79549392901822233194e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79549392901822233194e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79549392901822233194e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79549392902370524406e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(21,1.79549392902370524406e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(22,1.79549392902370524406e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.7954939290645041466e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.7954939290645041466e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79549392909212613108e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.79549392912549567223e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.79549392912549567223e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(28,1.79549392913011360162e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(29,1.79549392913011360162e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.79549392913011360162e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79549392933339715004e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.795493929390768528e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.795493929390768528e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79549392945949888231e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79549392945949888231e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.79549392946742558479e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79549392946742558479e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79549392947219085695e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79549392950436639783e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79549392950436639783e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79549392951000523566e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79549392951000523566e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.79549392983331060412e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.79549392983331060412e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.79549392983331060412e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.7954939298408298492e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79549392987010264389e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.79549392998731756213e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.79549392998731756213e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.7954939299929032326e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79549392999448680875e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79549392999448680875e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.79549392999753379819e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(54,1.79549393000109720232e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(55,1.79549393000109720232e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79549393002901029581e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79549393006337022781e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79549393009457802774e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79549393012471199034e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.79549393012827968596e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79549393032304644584e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79549393032304644584e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79549393032304644584e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79549393033565640449e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79549393036244440079e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79549393048866391176e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79549393048866391176e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79549393048866391176e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79549393050571608546e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.7954939305345847607e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79549393066053080561e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.7954939307330408096e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79549393081138586999e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79549393088382411003e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79549393095855927462e+09,14,0,'submitted','{"user": "root", "hold": false, "dependency": "afterok:3,afterok:9"}');
INSERT INTO "events" VALUES(76,1.79549393252333259586e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','47a09108');
INSERT INTO "facts" VALUES('key','9fe7611fdb75f260d14c426f3317d8d4');
INSERT INTO "facts" VALUES('batch','45c7a16b5a918c53');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, uncertain TEXT, shape JSON, closed JSON, dependency JSON, array JSON, "of" INTEGER, task INTEGER, max_latency FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79549392875116729743e+09,1,1.79549392875116729743e+09,1,0,0,1.79549392877545046804e+09,1.79549392879222607607e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79549392888532137867e+09,2,1.79549392888532137867e+09,1,0,1,1.79549392890174841878e+09,1.79549392892116427417e+09,3,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79549392901052474978e+09,3,1.79549392901052474978e+09,1,0,0,1.79549392909212613108e+09,1.79549392913011360162e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79549392933339715004e+09,0,0.0,0,0,0,NULL,1.795493929390768528e+09,NULL,NULL,NULL,'root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79549392945949888231e+09,4,1.79549392945949888231e+09,1,0,0,1.79549392947928524019e+09,1.79549392951000523566e+09,0,NULL,NULL,'',1,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79549392983331060412e+09,5,1.79549392983331060412e+09,1,0,0,1.79549392984668159485e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.79549392998731756213e+09,6,1.79549392998731756213e+09,1,0,0,1.79549393009457802774e+09,NULL,NULL,1.79549756009457802774e+09,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79549393032304644584e+09,7,1.79549393032304644584e+09,1,0,0,1.79549393034298086163e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79549393048866391176e+09,8,1.79549393048866391176e+09,1,0,0,1.79549393052971839905e+09,NULL,NULL,NULL,'cancel','root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79549393066053080561e+09,9,1.79549393066053080561e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.7954939307330408096e+09,10,1.7954939307330408096e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79549393081138586999e+09,11,1.79549393081138586999e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79549393088382411003e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(14,'root','job.sh','QUEUED','','[2]','null','',NULL,NULL,3600,1.79549393095855927462e+09,12,1.79549393095855927462e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,'{"on": "afterok:3,afterok:9", "kill": false, "never": ""}',NULL,NULL,NULL,NULL);
CREATE TABLE leadership (
	only INTEGER NOT NULL, 
	term BIGINT NOT NULL, 
	holder TEXT NOT NULL, 
	expires FLOAT NOT NULL, claim TEXT DEFAULT '' NOT NULL, seconds FLOAT DEFAULT '0' NOT NULL, renewals BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (only), 
	UNIQUE (term)
);
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	broker TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	caller JSON NOT NULL, 
	body JSON NOT NULL, 
	expires FLOAT NOT NULL, 
	taken BIGINT, 
	answered BOOLEAN DEFAULT 0 NOT NULL, 
	answer JSON, 
	PRIMARY KEY (id)
);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','3a658e0a-1fc0-487d-91c7-2e5a541ab99c','2.2b44173b81b4ddf346494a48',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','ca99431d-a7dc-439e-8b9d-15e898f1cd24','2.789ae23164cc7efbe6b315cf',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["3", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','16f1b2a8-3c64-4104-8544-c473849e825e','2.fe96f32ab9ccd04df3dd7f88',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','79268f1e-d184-4321-9bd1-08a6af217cda','2.c02b2556570198c1b0772214',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','1538fa2c-cf0c-4621-9422-c8e51f4215fb','2.1c6bec56fc7c36e618bf8e96',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','6851582e-48ea-4e70-9d21-c9ce30881a22','2.3d36ce87c85f8d28c5ae9b72',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','43877910-acc4-48f4-9079-3d214fda2aae','2.5b5f11d415a0a59d62a1f6cc',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','2.ca16b5359f7bfe8f41915da8',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','5060b2bb-ac1c-41b6-b260-9a4a93f88dea','2.f31b2299eab177ee1d93586a',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','f64cb126-e9c2-453d-89b1-dbba544840db','2.6d481821c1d1e0a1e7b5ba24',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','2755dffd-400b-43d6-af6a-7db431630cc1','2.211a672d5d9dfa018fcf1a41',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','e0cf19c9-aab5-43db-ae7e-99e9fc01b504','2.81ad2b40230e5f2ba4ed04cc',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','c4ba38d0-d8cc-44fd-a0ab-91492d6026ba','2.a05b650912a012fd6bd59fdc',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
INSERT INTO "scripts" VALUES(14,'root','1b3b2ac6-5764-4a49-9241-be0ec2fa203b','2.b984112e66dd55eaa98813e4',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "owner": null}');
CREATE INDEX events_by_job ON events (job);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
CREATE INDEX jobs_live ON jobs (state) WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX jobs_ended ON jobs (end_time, id, user, state) WHERE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX components_not_gone ON components (cluster) WHERE phase != 'gone' OR step != '';
CREATE INDEX jobs_of_arrays ON jobs ("of", task) WHERE "of" IS NOT NULL;
COMMIT;
